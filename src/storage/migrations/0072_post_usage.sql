-- How many posts went to webhooks, by UTC day: of an app, and of its whole project (app_id is empty), where a post that went to
-- several apps counts once. docs/decisions/0085 has the reasons.
create table post_usage (
  project_id text collate "C" not null,
  day date not null,
  app_id text collate "C" not null,
  posts bigint not null,
  primary key (project_id, day, app_id)
);
create index post_usage_day on post_usage (day);

-- Everything that was published before this is counted.
create table post_usage_progress (
  id boolean primary key default true check (id),
  counted_until timestamptz not null
);
