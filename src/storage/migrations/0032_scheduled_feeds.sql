-- Scheduled feeds: where a catalog's products are fetched from, and when.

create table scheduled_feeds (
  catalog_id text collate "C" not null references product_catalogs (id) on delete cascade,
  id text collate "C" not null check (id ~ '^[0-9]{1,19}$'),
  feed_url text not null,
  feed_format text collate "C" not null check (feed_format in ('CSV', 'TSV', 'XML')),
  frequency text collate "C" not null check (frequency in ('HOURLY', 'DAILY', 'WEEKLY')),
  repeat text collate "C",
  start_time text collate "C" not null check (start_time ~ '^[0-2][0-9]:[0-5][0-9]$'),
  time_zone text not null,
  -- What the host said about the file that was imported last; sent back to it so that an unchanged file is not sent again.
  etag text,
  last_modified text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (catalog_id, id),
  -- "Only one product feed is supported per user", who has one catalog.
  constraint scheduled_feeds_one_per_catalog unique (catalog_id),
  constraint scheduled_feeds_repeat check (
    case frequency
      when 'HOURLY' then coalesce(repeat, '') in ('1', '2', '3', '4', '6', '8', '12')
      when 'WEEKLY' then coalesce(repeat, '') in ('MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY')
      else repeat is null
    end
  )
);
