-- What hangs on a line item: creatives, targeting, curated categories, tracking tags.

create table promoted_tweets (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  tweet_id text collate "C" not null check (tweet_id ~ '^[0-9]{1,19}$'),
  entity_status text not null default 'ACTIVE' check (entity_status in ('ACTIVE', 'PAUSED')),
  approval_status text not null default 'ACCEPTED' check (approval_status in ('ACCEPTED', 'UNDER_REVIEW', 'REJECTED')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, line_item_id) references line_items (account_id, id)
);
-- "Deleting and re-creating the same pair revives the old id": so there is one row per pair.
create unique index promoted_tweets_pair on promoted_tweets (account_id, line_item_id, tweet_id);
create index promoted_tweets_created_at on promoted_tweets (account_id, created_at, id);
create index promoted_tweets_updated_at on promoted_tweets (account_id, updated_at, id);
create index promoted_tweets_deleted on promoted_tweets (account_id, deleted, id);
create index promoted_tweets_entity_status on promoted_tweets (account_id, entity_status, id);

create table promoted_accounts (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  user_id text collate "C" not null check (user_id ~ '^[0-9]{1,19}$'),
  entity_status text not null default 'ACTIVE' check (entity_status in ('ACTIVE', 'PAUSED')),
  approval_status text not null default 'ACCEPTED' check (approval_status in ('ACCEPTED', 'UNDER_REVIEW', 'REJECTED')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, line_item_id) references line_items (account_id, id)
);
-- "Promoted account POST for a user already promoted: request ignored."
create unique index promoted_accounts_pair on promoted_accounts (account_id, line_item_id, user_id) where not deleted;
create index promoted_accounts_line_item on promoted_accounts (account_id, line_item_id, id);
create index promoted_accounts_created_at on promoted_accounts (account_id, created_at, id);
create index promoted_accounts_updated_at on promoted_accounts (account_id, updated_at, id);
create index promoted_accounts_deleted on promoted_accounts (account_id, deleted, id);
create index promoted_accounts_entity_status on promoted_accounts (account_id, entity_status, id);

create table media_creatives (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  account_media_id text collate "C" not null,
  landing_url text,
  creative_type text collate "C" not null,
  entity_status text not null default 'ACTIVE' check (entity_status in ('ACTIVE', 'PAUSED')),
  approval_status text not null default 'ACCEPTED' check (approval_status in ('ACCEPTED', 'UNDER_REVIEW', 'REJECTED')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, line_item_id) references line_items (account_id, id),
  foreign key (account_id, account_media_id) references account_media (account_id, id)
);
create index media_creatives_line_item on media_creatives (account_id, line_item_id, id);
create index media_creatives_created_at on media_creatives (account_id, created_at, id);
create index media_creatives_updated_at on media_creatives (account_id, updated_at, id);
create index media_creatives_deleted on media_creatives (account_id, deleted, id);

create table targeting_criteria (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  targeting_type text collate "C" not null,
  targeting_value text collate "C" not null,
  operator_type text not null default 'EQ' check (operator_type in ('EQ', 'NE', 'GTE', 'LT')),
  name text,
  -- Of a LOCATION only.
  location_type text,
  -- Added by the server because of an app store identifier.
  automatic boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, line_item_id) references line_items (account_id, id)
);
create unique index targeting_criteria_once
  on targeting_criteria (account_id, line_item_id, targeting_type, targeting_value, operator_type) where not deleted;
create index targeting_criteria_line_item on targeting_criteria (account_id, line_item_id, id);
create index targeting_criteria_created_at on targeting_criteria (account_id, line_item_id, created_at, id);
create index targeting_criteria_updated_at on targeting_criteria (account_id, line_item_id, updated_at, id);

create table line_item_curated_categories (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  curated_category_id text collate "C" not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, line_item_id) references line_items (account_id, id)
);
-- "A line item may hold at most one curated category."
create unique index line_item_curated_categories_one on line_item_curated_categories (account_id, line_item_id)
  where not deleted;
create index line_item_curated_categories_created_at on line_item_curated_categories (account_id, created_at, id);
create index line_item_curated_categories_updated_at on line_item_curated_categories (account_id, updated_at, id);
create index line_item_curated_categories_deleted on line_item_curated_categories (account_id, deleted, id);

create table tracking_tags (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  tracking_tag_url text not null,
  tracking_tag_type text not null check (tracking_tag_type in ('IMPRESSION_TAG', 'CLICK_TRACKER')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, line_item_id) references line_items (account_id, id)
);
create index tracking_tags_line_item on tracking_tags (account_id, line_item_id, id);
create index tracking_tags_created_at on tracking_tags (account_id, created_at, id);
create index tracking_tags_updated_at on tracking_tags (account_id, updated_at, id);
create index tracking_tags_deleted on tracking_tags (account_id, deleted, id);
