-- Imports of feeds: what was read, what became of it, what was wrong.

create table feed_runs (
  catalog_id text collate "C" not null references product_catalogs (id) on delete cascade,
  id text collate "C" not null check (id ~ '^[0-9]{1,19}$'),
  -- Null for a check of an address that is no feed (yet).
  feed_id text collate "C",
  trigger text collate "C" not null check (trigger in ('schedule', 'request', 'operator')),
  -- Reads and reports, but changes nothing.
  validate_only boolean not null,
  -- Fetches the file even if the host says that it has not changed.
  force boolean not null,
  -- Somebody has said that so much may change.
  confirmed boolean not null default false,
  state text collate "C" not null check (state in
    ('QUEUED', 'FETCHING', 'MERGING', 'NEEDS_CONFIRMATION', 'DONE', 'FAILED', 'SUPERSEDED')),
  feed_url text not null,
  feed_format text collate "C" not null check (feed_format in ('CSV', 'TSV', 'XML')),
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  -- Downloads that failed so far, and when the next one is tried.
  fetch_failures int not null default 0,
  next_fetch_at timestamptz,
  -- Of the file as it comes over the wire; the total is what the host announced.
  bytes_read bigint not null default 0,
  bytes_total bigint,
  -- Working time so far.
  elapsed_ms bigint not null default 0,
  rows_read bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  rejected bigint not null default 0,
  duplicate bigint not null default 0,
  not_modified boolean not null default false,
  error jsonb,
  guard jsonb,
  issues jsonb not null default '[]',
  etag text,
  last_modified text,
  -- The table that holds the rows until they are merged, once all of them are in it, and the number of its last row.
  staging_table text collate "C",
  last_row bigint not null default 0,
  primary key (catalog_id, id)
);
-- A feed is imported once at a time.
create unique index feed_runs_active on feed_runs (catalog_id, feed_id)
  where state in ('QUEUED', 'FETCHING', 'MERGING') and not validate_only;
create index feed_runs_feed on feed_runs (catalog_id, feed_id, id);
-- Retention, and the operator's list.
create index feed_runs_id on feed_runs (id);

-- Rows that did not become products, for download.
create table feed_rejected_rows (
  catalog_id text collate "C" not null,
  run_id text collate "C" not null,
  row bigint not null,
  line bigint,
  -- [{code, field, value, message, column}, …]
  errors jsonb not null,
  -- The cells in the order of the product fields, where they could be read; otherwise the row as it stands in the file.
  fields text[],
  raw text,
  primary key (catalog_id, run_id, row),
  foreign key (catalog_id, run_id) references feed_runs (catalog_id, id) on delete cascade
);
