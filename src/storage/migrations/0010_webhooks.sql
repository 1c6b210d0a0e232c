-- Webhooks: addresses that apps registered, and every check of whether they still control them.

create table webhooks (
  app_id text collate "C" not null references apps (id) on delete cascade,
  id text collate "C" not null,
  url text not null,
  valid boolean not null,
  created_at timestamptz not null,
  -- The 24 and 28 hours of the validation rules are counted from here.
  last_success_at timestamptz not null,
  last_crc_at timestamptz,
  last_crc_outcome text,
  invalid_since timestamptz,
  -- What people are told: the class and what was observed.
  invalid_reason text,
  -- Keys lead with the tenant, so that a sharded PostgreSQL can distribute the tables.
  primary key (app_id, id),
  constraint webhooks_app_url unique (app_id, url),
  check (valid = (invalid_since is null))
);
create index webhooks_id on webhooks (id);
-- The CRC tick looks for webhooks without a success in the past 24 hours.
create index webhooks_last_success_at on webhooks (last_success_at);

create table crc_checks (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  created_at timestamptz not null,
  -- 'create', 'put', 'tick' or 'replay'.
  cause text not null,
  outcome text not null check (outcome in ('pass', 'transient', 'definitive')),
  url text not null,
  status smallint,
  latency_ms int,
  error text,
  detail text,
  -- First bytes of the answer.
  response text,
  -- Not a foreign key: the record of a failed registration has no webhook, and outlives one that was deleted.
  primary key (app_id, webhook_id, id)
);
-- Dropping old records.
create index crc_checks_created_at on crc_checks (created_at);
