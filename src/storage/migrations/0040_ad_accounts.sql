-- Ad accounts and what no call of the documents can create: features of production accounts, apps, media, promotable users.
-- Everything an account owns leads with the account in its key.

create table ad_accounts (
  id text collate "C" primary key check (id ~ '^[0-9a-z]{1,13}$'),
  -- The listener that shows it; the other one does not know it.
  environment text collate "C" not null check (environment in ('production', 'sandbox')),
  name text collate "C" not null check (name <> ''),
  -- The name as `q` compares it.
  name_folded text collate "C" not null,
  business_name text,
  business_id text collate "C",
  -- An IANA name.
  timezone text not null,
  timezone_switch_at timestamptz,
  approval_status text not null default 'ACCEPTED' check (approval_status in ('ACCEPTED', 'UNDER_REVIEW', 'REJECTED')),
  industry_type text,
  -- "200 by default; can be raised to 8,000".
  active_campaigns_max int not null default 200 check (active_campaigns_max between 1 and 8000),
  line_items_per_campaign_max int not null default 100 check (line_items_per_campaign_max between 1 and 8000),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false
);

create table account_features (
  account_id text collate "C" not null references ad_accounts (id),
  feature_key text collate "C" not null,
  created_at timestamptz not null,
  primary key (account_id, feature_key)
);

create table promotable_users (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  user_id text collate "C" not null check (user_id ~ '^[0-9]{1,19}$'),
  promotable_user_type text not null check (promotable_user_type in ('FULL', 'RETWEETS_ONLY')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id)
);
create unique index promotable_users_user on promotable_users (account_id, user_id) where not deleted;
-- "Every account has exactly one FULL promotable user (the owner)."
create unique index promotable_users_owner on promotable_users (account_id)
  where promotable_user_type = 'FULL' and not deleted;

create table account_apps (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  app_store_identifier text not null,
  conversion_tracking_enabled boolean not null default false,
  deep_link_pattern text,
  os_type text not null check (os_type in ('Android', 'iOS')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id)
);

create table account_media (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  video_id text collate "C",
  media_url text,
  media_key text collate "C",
  creative_type text collate "C" not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  -- "One of video_id/media_url is null."
  constraint account_media_one_source check ((video_id is null) <> (media_url is null))
);
