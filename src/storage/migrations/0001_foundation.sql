-- What every domain stands on: jobs, node numbers, the test clock, rate limit windows.

-- Every asynchronous duty is a row here. A finished job is deleted; a failed one stays for people to see.
create table jobs (
  id text collate "C" primary key,
  kind text not null,
  -- At most one job per kind and key: asking again while one waits is the same duty.
  key text collate "C",
  payload jsonb not null default '{}',
  state text not null default 'pending' check (state in ('pending', 'running', 'failed')),
  -- By the clock of the rules, which tests can move.
  due_at timestamptz not null,
  attempts int not null default 0,
  -- Grows when a job is asked for again under its key, so that one that is running knows to run once more.
  revision int not null default 0,
  -- By the database's own time, which nobody moves.
  lease_until timestamptz,
  -- The fence: only who holds this token may complete the job.
  lease_token uuid,
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((state = 'running') = (lease_token is not null and lease_until is not null))
);
create unique index jobs_kind_key on jobs (kind, key) where key is not null;
-- Claiming takes the oldest due jobs of each kind, in the order in which they were asked for.
create index jobs_due on jobs (kind, due_at, id) where state = 'pending';
-- Finding leases whose holder died.
create index jobs_leases on jobs (lease_until) where state = 'running';
create index jobs_failed on jobs (updated_at) where state = 'failed';

-- Numbers for ids.ts: a node takes the next one at start, so that nodes never mint the same id.
create sequence node_numbers minvalue 0 maxvalue 1023 start 0 cycle;

-- How far the test clock has been moved, for all nodes alike.
create table test_clock (
  id boolean primary key default true check (id),
  offset_ms bigint not null
);

-- Counters that may be forgotten in a crash, and so cost no WAL.
create unlogged table rate_limits (
  key text collate "C" primary key,
  window_ends_at timestamptz not null,
  used bigint not null
);
-- Sweeping out windows that have ended.
create index rate_limits_window_ends_at on rate_limits (window_ends_at);
