-- Activity: who asked for which events, and what was published under which name.

-- Publishing is idempotent by name: the id a publisher gives, or what an event says of itself (a mention of a post, a message).
-- Kept as long as the events themselves; src/activity/events.ts removes older rows.
create table published_names (
  name text collate "C" primary key,
  event_id text collate "C" not null,
  created_at timestamptz not null
);
create index published_names_created_at on published_names (created_at);

create table activity_subscriptions (
  app_id text collate "C" not null references apps (id) on delete cascade,
  id text collate "C" not null,
  -- The canonical name; `event_type_given` is the spelling to echo.
  event_type text not null,
  event_type_given text not null,
  user_id text collate "C",
  keyword text,
  direction text check (direction in ('inbound', 'outbound')),
  -- The filter as it was given, for echoes.
  filter jsonb not null,
  tag text,
  webhook_id text collate "C",
  -- Whose consent a private subscription stands on; it ends with that.
  consent_user_id text collate "C",
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (app_id, id),
  -- Without its webhook a subscription still feeds streams.
  foreign key (app_id, webhook_id) references webhooks (app_id, id) on delete set null (webhook_id),
  constraint activity_subscriptions_once unique nulls not distinct (app_id, event_type, user_id, keyword, direction)
);
-- How an event finds its subscriptions: by type and user; those by keyword alone (news) by type.
create index activity_subscriptions_key on activity_subscriptions (event_type, user_id);
create index activity_subscriptions_consent on activity_subscriptions (consent_user_id, app_id) where consent_user_id is not null;
create index activity_subscriptions_webhook on activity_subscriptions (app_id, webhook_id) where webhook_id is not null;
