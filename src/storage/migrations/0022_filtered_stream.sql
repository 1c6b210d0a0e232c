-- Filtered stream: the rules of every app, how nodes hear of changes to them, and the webhooks that posts go to.

create table filtered_rules (
  app_id text collate "C" not null references apps (id) on delete cascade,
  id text collate "C" not null,
  value text not null,
  -- SHA-256 of the value, which may be longer than an index entry.
  value_hash bytea not null,
  tag text,
  created_at timestamptz not null,
  primary key (app_id, id),
  constraint filtered_rules_value unique (app_id, value_hash)
);
-- Explaining a rule starts from its id alone.
create index filtered_rules_id on filtered_rules (id);

-- How many rules an app has, so that adding one never counts the others.
create table filtered_rule_counts (
  app_id text collate "C" primary key references apps (id) on delete cascade,
  rules int not null check (rules >= 0)
);
create index apps_project on apps (project_id) where project_id is not null;

-- What nodes read to follow the rules. A node remembers the oldest transaction that was still open when it last looked, and
-- reads from there: later transactions with lower numbers cannot slip by. Rows are removed after an hour (decisions/0036).
create table filtered_rule_changes (
  xid xid8 not null default pg_current_xact_id(),
  app_id text collate "C" not null,
  rule_id text collate "C" not null,
  changed_at timestamptz not null default now()
);
create index filtered_rule_changes_xid on filtered_rule_changes (xid);

-- Posts that match the rules of the app go to the webhook, with these fields.
create table filtered_links (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  -- As they were asked for: `tweet.fields=lang,author_id`.
  fields text[] not null,
  created_at timestamptz not null,
  primary key (app_id, webhook_id),
  foreign key (app_id, webhook_id) references webhooks (app_id, id) on delete cascade
);

-- Streams read recent events again by time. Rows arrive in that order, so a few bytes per range find them.
create index events_created_at on events using brin (created_at) with (pages_per_range = 32, autosummarize = on);

create table powerstream_rules (
  app_id text collate "C" not null references apps (id) on delete cascade,
  id text collate "C" not null,
  value text not null,
  value_hash bytea not null,
  tag text,
  created_at timestamptz not null,
  primary key (app_id, id),
  constraint powerstream_rules_value unique (app_id, value_hash)
);
