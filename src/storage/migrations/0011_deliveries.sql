-- What is sent to webhooks: the published events, one delivery per webhook and body, the queue of those not settled yet,
-- and every attempt. docs/decisions/0021 has the reasons.

-- Partitions of the three tables that grow with traffic are made and dropped by src/webhooks/retention.ts.

create table events (
  created_at timestamptz not null,
  occurred_at timestamptz not null,
  id text collate "C" not null,
  event_type text not null,
  user_id text collate "C",
  -- JSON as it was published; as text, numbers keep all their digits.
  payload text not null,
  includes text,
  primary key (id, created_at)
) partition by range (created_at);

-- Written once and never updated: the body may be large.
create table deliveries (
  created_at timestamptz not null,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  -- Sent as `webhook-id`, the same on every retry and replay.
  id text collate "C" not null,
  event_id text collate "C",
  kind text not null,
  -- The exact bytes that are signed and sent.
  body bytea not null,
  -- The order of a replay, and of records read backwards.
  primary key (app_id, webhook_id, created_at, id)
) partition by range (created_at);
-- Both kinds of id grow with time, as the table does, so a few bytes per megabyte find a row by its id alone.
create index deliveries_ids on deliveries using brin (id, event_id) with (pages_per_range = 32, autosummarize = on);

create type delivery_outcome as enum ('delivered', 'retry', 'failed', 'held');
create type delivery_cause as enum ('live', 'resend', 'replay');

create table attempts (
  created_at timestamptz not null,
  -- Finds the delivery in its partition.
  delivery_created_at timestamptz not null,
  next_attempt_at timestamptz,
  latency_ms int,
  outcome delivery_outcome not null,
  cause delivery_cause not null,
  -- 0: nothing was sent (held, expired).
  attempt smallint not null,
  status smallint,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  delivery_id text collate "C" not null,
  replay_id text collate "C",
  error text,
  detail text,
  -- First bytes of an answer that was not an acknowledgement.
  response text
) partition by range (created_at);
-- One index for "attempts of this delivery" (all outcomes) and "what failed lately" (one outcome, by delivery).
create index attempts_delivery on attempts (app_id, webhook_id, outcome, delivery_id);

-- A delivery is here until it is settled. Narrow, because rows come and go at the rate of traffic; the key is the order in
-- which a lane takes them: first attempts before retries, oldest first.
create table delivery_queue (
  due_at timestamptz not null,
  -- Finds the delivery in its partition.
  created_at timestamptz not null,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  delivery_id text collate "C" not null,
  attempts smallint not null default 0,
  cause delivery_cause not null default 'live',
  retry boolean not null default false,
  primary key (app_id, webhook_id, retry, due_at, delivery_id)
) with (
  -- Dead rows are the cost of a queue; removing them must not wait for a share of a table that is usually empty.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_insert_threshold = -1
);

-- Nodes that deliver. The lease is by the database's own time; a node whose lease ended is removed by any other.
create table delivery_nodes (
  id text collate "C" primary key,
  lease_until timestamptz not null,
  started_at timestamptz not null default now()
);

-- A lane is the right to send to one webhook. The epoch grows whenever it changes hands, and fences the former owner.
create table delivery_lanes (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  node_id text collate "C" references delivery_nodes (id) on delete set null,
  epoch bigint not null default 0,
  primary key (app_id, webhook_id),
  foreign key (app_id, webhook_id) references webhooks (app_id, id) on delete cascade
);
create index delivery_lanes_node on delivery_lanes (node_id) where node_id is not null;

create table replays (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  -- Deliveries of [from_date, to_date).
  from_date timestamptz not null,
  to_date timestamptz not null check (to_date > from_date),
  state text not null default 'pending' check (state in ('pending', 'running', 'complete', 'incomplete')),
  -- Everything up to here has been tried; a crash continues after it.
  cursor_created_at timestamptz,
  cursor_id text collate "C",
  delivered bigint not null default 0,
  failed bigint not null default 0,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  detail text,
  primary key (app_id, webhook_id, id),
  foreign key (app_id, webhook_id) references webhooks (app_id, id) on delete cascade
);
-- One job in progress per webhook.
create unique index replays_in_progress on replays (app_id, webhook_id) where state in ('pending', 'running');
create index replays_created_at on replays (created_at);
