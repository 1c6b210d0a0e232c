-- Line items (ad groups) of campaigns.

create table line_items (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  campaign_id text collate "C" not null,
  funding_instrument_id text collate "C" not null,
  name text collate "C",
  -- The name as `q` compares it.
  name_folded text collate "C",
  advertiser_user_id text collate "C",
  advertiser_domain text,
  placements text[] not null,
  product_type text not null,
  objective text not null,
  goal text not null,
  pay_by text not null,
  bid_strategy text not null,
  bid_amount_local_micro bigint,
  target_cpa_local_micro bigint,
  primary_web_event_tag text,
  start_time timestamptz,
  end_time timestamptz,
  daily_budget_amount_local_micro bigint check (daily_budget_amount_local_micro > 0),
  total_budget_amount_local_micro bigint check (total_budget_amount_local_micro > 0),
  duration_in_days int,
  frequency_cap int,
  standard_delivery boolean,
  entity_status text not null check (entity_status in ('ACTIVE', 'DRAFT', 'PAUSED')),
  automatic_tweet_promotion boolean,
  android_app_store_identifier text,
  ios_app_store_identifier text,
  -- Writable, in no answer.
  audience_expansion text,
  categories text[] not null default '{}',
  currency text collate "C" not null,
  creative_source text not null default 'MANUAL',
  catalog_id text collate "C",
  product_set_id text collate "C",
  spend_local_micro bigint not null default 0 check (spend_local_micro >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, campaign_id) references campaigns (account_id, id)
);
create index line_items_campaign on line_items (account_id, campaign_id, id);
create index line_items_funding_instrument on line_items (account_id, funding_instrument_id, id);
create index line_items_name_folded on line_items (account_id, name_folded, id);
-- One index per attribute of sort_by.
create index line_items_created_at on line_items (account_id, created_at, id);
create index line_items_updated_at on line_items (account_id, updated_at, id);
create index line_items_deleted on line_items (account_id, deleted, id);
create index line_items_bid on line_items (account_id, bid_amount_local_micro, id);
