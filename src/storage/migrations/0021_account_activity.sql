-- Account activity: users whose events go to a webhook of an app, by their own consent.

create table account_activity_subscriptions (
  app_id text collate "C" not null references apps (id) on delete cascade,
  webhook_id text collate "C" not null,
  user_id text collate "C" not null references users (id) on delete cascade,
  -- For operators only: their lists are in its order.
  id text collate "C" not null,
  created_at timestamptz not null,
  primary key (app_id, webhook_id, user_id),
  foreign key (app_id, webhook_id) references webhooks (app_id, id) on delete cascade
);
create index account_activity_subscriptions_id on account_activity_subscriptions (id);
-- How an event finds them, and how a revocation does.
create index account_activity_subscriptions_user on account_activity_subscriptions (user_id, app_id);

-- One word of the keyword, which every matching text has: subscriptions by keyword alone are found by it.
alter table activity_subscriptions add column keyword_term text collate "C";
alter table activity_subscriptions add constraint activity_subscriptions_keyword_term check ((keyword is null) = (keyword_term is null));
create index activity_subscriptions_keyword on activity_subscriptions (event_type, keyword_term) where user_id is null;
-- Explaining a subscription starts from its id alone.
create index activity_subscriptions_id on activity_subscriptions (id);
