-- The schema that the migrations in src/storage/migrations add up to, for reading; migrations are what runs.
-- Written by "node scripts/schema.ts --write" and checked by a test. Partitions of a table are not shown.

create type delivery_cause as enum ('live', 'resend', 'replay');

create type delivery_outcome as enum ('delivered', 'retry', 'failed', 'held');

create sequence node_numbers as bigint minvalue 0 maxvalue 1023 start 0 increment 1 cycle;

CREATE OR REPLACE FUNCTION announce_deleted_rules()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into filtered_rule_changes (app_id, rule_id) select app_id, id from gone;
  if found then perform pg_notify('herald_rules', ''); end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION announce_deleted_webhook()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('herald_deliveries', 'changed ' || old.app_id || '/' || old.id);
  return null;
end $function$
;

create table account_access (
  account_id text collate "C" not null,
  user_id text collate "C" not null,
  permissions text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint account_access_pkey PRIMARY KEY (account_id, user_id),
  constraint account_access_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint account_access_composer CHECK (((NOT ('TWEET_COMPOSER'::text = ANY (permissions))) OR (permissions && ARRAY['ACCOUNT_ADMIN'::text, 'AD_MANAGER'::text, 'CREATIVE_MANAGER'::text]))),
  constraint account_access_permissions_check CHECK ((cardinality(permissions) > 0))
);
CREATE INDEX account_access_user ON account_access USING btree (user_id, account_id);

create table account_activity_subscriptions (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  user_id text collate "C" not null,
  id text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint account_activity_subscriptions_pkey PRIMARY KEY (app_id, webhook_id, user_id),
  constraint account_activity_subscriptions_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint account_activity_subscriptions_app_id_webhook_id_fkey FOREIGN KEY (app_id, webhook_id) REFERENCES webhooks(app_id, id) ON DELETE CASCADE,
  constraint account_activity_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX account_activity_subscriptions_id ON account_activity_subscriptions USING btree (id);
CREATE INDEX account_activity_subscriptions_user ON account_activity_subscriptions USING btree (user_id, app_id);

create table account_apps (
  account_id text collate "C" not null,
  id text collate "C" not null,
  app_store_identifier text not null,
  conversion_tracking_enabled boolean default false not null,
  deep_link_pattern text,
  os_type text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint account_apps_pkey PRIMARY KEY (account_id, id),
  constraint account_apps_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint account_apps_os_type_check CHECK ((os_type = ANY (ARRAY['Android'::text, 'iOS'::text])))
);

create table account_features (
  account_id text collate "C" not null,
  feature_key text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint account_features_pkey PRIMARY KEY (account_id, feature_key),
  constraint account_features_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id)
);

create table account_history (
  account_id text collate "C" not null,
  id text collate "C" not null,
  entity text collate "C" not null,
  entity_id text collate "C" not null,
  change_time timestamp with time zone not null,
  change_type text not null,
  user_id text collate "C" not null,
  app_id text collate "C",
  platform text not null,
  changes json not null,
  entity_data json not null,
  constraint account_history_pkey PRIMARY KEY (account_id, entity, entity_id, id),
  constraint account_history_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint account_history_change_type_check CHECK ((change_type = ANY (ARRAY['CREATE'::text, 'UPDATE'::text, 'DELETE'::text]))),
  constraint account_history_entity_check CHECK ((entity = ANY (ARRAY['CAMPAIGN'::text, 'LINE_ITEM'::text, 'PROMOTED_TWEET'::text, 'TARGETING_CRITERIA'::text, 'PROMOTED_ACCOUNT'::text])))
);

create table account_media (
  account_id text collate "C" not null,
  id text collate "C" not null,
  video_id text collate "C",
  media_url text,
  media_key text collate "C",
  creative_type text collate "C" not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint account_media_pkey PRIMARY KEY (account_id, id),
  constraint account_media_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint account_media_one_source CHECK (((video_id IS NULL) <> (media_url IS NULL)))
);

create table activity_subscriptions (
  app_id text collate "C" not null,
  id text collate "C" not null,
  event_type text not null,
  event_type_given text not null,
  user_id text collate "C",
  keyword text,
  direction text,
  filter jsonb not null,
  tag text,
  webhook_id text collate "C",
  consent_user_id text collate "C",
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  keyword_term text collate "C",
  constraint activity_subscriptions_pkey PRIMARY KEY (app_id, id),
  constraint activity_subscriptions_once UNIQUE NULLS NOT DISTINCT (app_id, event_type, user_id, keyword, direction),
  constraint activity_subscriptions_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint activity_subscriptions_app_id_webhook_id_fkey FOREIGN KEY (app_id, webhook_id) REFERENCES webhooks(app_id, id) ON DELETE SET NULL (webhook_id),
  constraint activity_subscriptions_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  constraint activity_subscriptions_keyword_term CHECK (((keyword IS NULL) = (keyword_term IS NULL)))
);
CREATE INDEX activity_subscriptions_consent ON activity_subscriptions USING btree (consent_user_id, app_id) WHERE (consent_user_id IS NOT NULL);
CREATE INDEX activity_subscriptions_id ON activity_subscriptions USING btree (id);
CREATE INDEX activity_subscriptions_key ON activity_subscriptions USING btree (event_type, user_id);
CREATE INDEX activity_subscriptions_keyword ON activity_subscriptions USING btree (event_type, keyword_term) WHERE (user_id IS NULL);
CREATE INDEX activity_subscriptions_webhook ON activity_subscriptions USING btree (app_id, webhook_id) WHERE (webhook_id IS NOT NULL);

create table ad_accounts (
  id text collate "C" not null,
  environment text collate "C" not null,
  name text collate "C" not null,
  name_folded text collate "C" not null,
  business_name text,
  business_id text collate "C",
  timezone text not null,
  timezone_switch_at timestamp with time zone,
  approval_status text default 'ACCEPTED'::text not null,
  industry_type text,
  active_campaigns_max integer default 200 not null,
  line_items_per_campaign_max integer default 100 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  active_line_items_max integer default 8000 not null,
  constraint ad_accounts_pkey PRIMARY KEY (id),
  constraint ad_accounts_active_campaigns_max_check CHECK (((active_campaigns_max >= 1) AND (active_campaigns_max <= 8000))),
  constraint ad_accounts_active_line_items_max_check CHECK ((active_line_items_max >= 1)),
  constraint ad_accounts_approval_status_check CHECK ((approval_status = ANY (ARRAY['ACCEPTED'::text, 'UNDER_REVIEW'::text, 'REJECTED'::text]))),
  constraint ad_accounts_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint ad_accounts_id_check CHECK ((id ~ '^[0-9a-z]{1,13}$'::text)),
  constraint ad_accounts_line_items_per_campaign_max_check CHECK (((line_items_per_campaign_max >= 1) AND (line_items_per_campaign_max <= 8000))),
  constraint ad_accounts_name_check CHECK ((name <> ''::text))
);

create table admin_tokens (
  token_hash bytea not null,
  id text collate "C" not null,
  name text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint admin_tokens_pkey PRIMARY KEY (token_hash),
  constraint admin_tokens_id UNIQUE (id)
);

create table allow_lists (
  list text collate "C" not null,
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint allow_lists_pkey PRIMARY KEY (list, subject_kind, subject_id),
  constraint allow_lists_list_check CHECK ((list <> ''::text)),
  constraint allow_lists_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['app'::text, 'user'::text, 'account'::text])))
);
CREATE INDEX allow_lists_subject ON allow_lists USING btree (subject_kind, subject_id);

create table app_bearer_tokens (
  token_hash bytea not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  token bytea,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint app_bearer_tokens_pkey PRIMARY KEY (token_hash),
  constraint app_bearer_tokens_id UNIQUE (id),
  constraint app_bearer_tokens_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint app_bearer_tokens_check CHECK (((token IS NULL) = (revoked_at IS NOT NULL)))
);
CREATE UNIQUE INDEX app_bearer_tokens_live ON app_bearer_tokens USING btree (app_id) WHERE (revoked_at IS NULL);

create table apps (
  id text collate "C" not null,
  name text not null,
  owner_user_id text collate "C",
  project_id text collate "C",
  permissions text default 'read'::text not null,
  consumer_key text collate "C" not null,
  consumer_secret bytea not null,
  previous_consumer_secret bytea,
  previous_consumer_secret_valid_until timestamp with time zone,
  client_id text collate "C" not null,
  client_type text default 'confidential'::text not null,
  client_secret_hash bytea,
  redirect_uris text[] default '{}'::text[] not null,
  products text[] default '{}'::text[] not null,
  ads_access text default 'none'::text not null,
  quotas jsonb default '{}'::jsonb not null,
  suspended boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint apps_pkey PRIMARY KEY (id),
  constraint apps_client_id UNIQUE (client_id),
  constraint apps_consumer_key UNIQUE (consumer_key),
  constraint apps_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES users(id),
  constraint apps_ads_access_check CHECK ((ads_access = ANY (ARRAY['none'::text, 'read'::text, 'read-write'::text]))),
  constraint apps_check CHECK (((previous_consumer_secret IS NULL) = (previous_consumer_secret_valid_until IS NULL))),
  constraint apps_check1 CHECK (((client_type = 'public'::text) = (client_secret_hash IS NULL))),
  constraint apps_client_type_check CHECK ((client_type = ANY (ARRAY['public'::text, 'confidential'::text]))),
  constraint apps_id_check CHECK ((id ~ '^[0-9]{1,19}$'::text)),
  constraint apps_name_check CHECK ((name <> ''::text)),
  constraint apps_permissions_check CHECK ((permissions = ANY (ARRAY['read'::text, 'read-write'::text, 'read-write-directmessages'::text]))),
  constraint apps_quotas_check CHECK ((jsonb_typeof(quotas) = 'object'::text)),
  constraint apps_redirect_uris CHECK ((cardinality(redirect_uris) <= 10))
);
CREATE INDEX apps_owner ON apps USING btree (owner_user_id) WHERE (owner_user_id IS NOT NULL);
CREATE INDEX apps_project ON apps USING btree (project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX apps_suspended ON apps USING btree (id) WHERE suspended;

create table attempts (
  created_at timestamp with time zone not null,
  delivery_created_at timestamp with time zone not null,
  next_attempt_at timestamp with time zone,
  latency_ms integer,
  outcome delivery_outcome not null,
  cause delivery_cause not null,
  attempt smallint not null,
  status smallint,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  delivery_id text collate "C" not null,
  replay_id text collate "C",
  error text,
  detail text,
  response text
) partition by RANGE (created_at);
CREATE INDEX attempts_delivery ON ONLY attempts USING btree (app_id, webhook_id, outcome, delivery_id);
CREATE INDEX attempts_times ON ONLY attempts USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

create table campaigns (
  account_id text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  name_folded text collate "C" not null,
  funding_instrument_id text collate "C" not null,
  budget_optimization text not null,
  daily_budget_amount_local_micro bigint,
  total_budget_amount_local_micro bigint,
  entity_status text not null,
  purchase_order_number text,
  standard_delivery boolean,
  start_time timestamp with time zone,
  end_time timestamp with time zone,
  currency text collate "C" not null,
  spend_local_micro bigint default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint campaigns_pkey PRIMARY KEY (account_id, id),
  constraint campaigns_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint campaigns_account_id_funding_instrument_id_fkey FOREIGN KEY (account_id, funding_instrument_id) REFERENCES funding_instruments(account_id, id),
  constraint campaigns_budget_optimization_check CHECK ((budget_optimization = ANY (ARRAY['CAMPAIGN'::text, 'LINE_ITEM'::text]))),
  constraint campaigns_daily_budget_amount_local_micro_check CHECK ((daily_budget_amount_local_micro > 0)),
  constraint campaigns_entity_status_check CHECK ((entity_status = ANY (ARRAY['ACTIVE'::text, 'DRAFT'::text, 'PAUSED'::text]))),
  constraint campaigns_name_check CHECK ((name <> ''::text)),
  constraint campaigns_spend_local_micro_check CHECK ((spend_local_micro >= 0)),
  constraint campaigns_total_budget_amount_local_micro_check CHECK ((total_budget_amount_local_micro > 0))
);
CREATE INDEX campaigns_active ON campaigns USING btree (account_id, id) WHERE ((NOT deleted) AND (entity_status <> 'DRAFT'::text));
CREATE INDEX campaigns_created_at ON campaigns USING btree (account_id, created_at, id);
CREATE INDEX campaigns_daily_budget ON campaigns USING btree (account_id, daily_budget_amount_local_micro, id);
CREATE INDEX campaigns_deleted ON campaigns USING btree (account_id, deleted, id);
CREATE INDEX campaigns_end_time ON campaigns USING btree (account_id, end_time, id) WHERE (end_time IS NOT NULL);
CREATE INDEX campaigns_funding_instrument ON campaigns USING btree (account_id, funding_instrument_id, id);
CREATE INDEX campaigns_name ON campaigns USING btree (account_id, name, id);
CREATE INDEX campaigns_name_folded ON campaigns USING btree (account_id, name_folded, id);
CREATE INDEX campaigns_standard_delivery ON campaigns USING btree (account_id, standard_delivery, id);
CREATE INDEX campaigns_start_time ON campaigns USING btree (account_id, start_time, id) WHERE (start_time IS NOT NULL);
CREATE INDEX campaigns_total_budget ON campaigns USING btree (account_id, total_budget_amount_local_micro, id);
CREATE INDEX campaigns_updated_at ON campaigns USING btree (account_id, updated_at, id);

create table catalog_delegates (
  owner_user_id text collate "C" not null,
  user_id text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint catalog_delegates_pkey PRIMARY KEY (owner_user_id, user_id),
  constraint catalog_delegates_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint catalog_delegates_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint catalog_delegates_check CHECK ((owner_user_id <> user_id))
);
CREATE INDEX catalog_delegates_user ON catalog_delegates USING btree (user_id, owner_user_id);

create table crc_checks (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  created_at timestamp with time zone not null,
  cause text not null,
  outcome text not null,
  url text not null,
  status smallint,
  latency_ms integer,
  error text,
  detail text,
  response text,
  constraint crc_checks_pkey PRIMARY KEY (app_id, webhook_id, id),
  constraint crc_checks_outcome_check CHECK ((outcome = ANY (ARRAY['pass'::text, 'transient'::text, 'definitive'::text])))
);
CREATE INDEX crc_checks_created_at ON crc_checks USING btree (created_at);

create table deliveries (
  created_at timestamp with time zone not null,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  event_id text collate "C",
  kind text not null,
  body bytea not null,
  constraint deliveries_pkey PRIMARY KEY (app_id, webhook_id, created_at, id)
) partition by RANGE (created_at);
CREATE INDEX deliveries_ids ON ONLY deliveries USING brin (id, event_id) WITH (pages_per_range='32', autosummarize='on');

create table delivery_lanes (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  node_id text collate "C",
  epoch bigint default 0 not null,
  constraint delivery_lanes_pkey PRIMARY KEY (app_id, webhook_id),
  constraint delivery_lanes_app_id_webhook_id_fkey FOREIGN KEY (app_id, webhook_id) REFERENCES webhooks(app_id, id) ON DELETE CASCADE,
  constraint delivery_lanes_node_id_fkey FOREIGN KEY (node_id) REFERENCES delivery_nodes(id) ON DELETE SET NULL
);
CREATE INDEX delivery_lanes_node ON delivery_lanes USING btree (node_id) WHERE (node_id IS NOT NULL);

create table delivery_nodes (
  id text collate "C" not null,
  lease_until timestamp with time zone not null,
  started_at timestamp with time zone default now() not null,
  constraint delivery_nodes_pkey PRIMARY KEY (id)
);

create table delivery_queue (
  due_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  delivery_id text collate "C" not null,
  attempts smallint default 0 not null,
  cause delivery_cause default 'live'::delivery_cause not null,
  retry boolean default false not null,
  constraint delivery_queue_pkey PRIMARY KEY (app_id, webhook_id, retry, due_at, delivery_id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_threshold=-1);

create table events (
  created_at timestamp with time zone not null,
  occurred_at timestamp with time zone not null,
  id text collate "C" not null,
  event_type text not null,
  user_id text collate "C",
  payload text not null,
  includes text,
  constraint events_pkey PRIMARY KEY (id, created_at)
) partition by RANGE (created_at);
CREATE INDEX events_created_at ON ONLY events USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

create table feed_rejected_rows (
  catalog_id text collate "C" not null,
  run_id text collate "C" not null,
  "row" bigint not null,
  line bigint,
  errors jsonb not null,
  fields text[],
  raw text,
  constraint feed_rejected_rows_pkey PRIMARY KEY (catalog_id, run_id, "row"),
  constraint feed_rejected_rows_catalog_id_run_id_fkey FOREIGN KEY (catalog_id, run_id) REFERENCES feed_runs(catalog_id, id) ON DELETE CASCADE
);

create table feed_runs (
  catalog_id text collate "C" not null,
  id text collate "C" not null,
  feed_id text collate "C",
  trigger text collate "C" not null,
  validate_only boolean not null,
  force boolean not null,
  confirmed boolean default false not null,
  state text collate "C" not null,
  feed_url text not null,
  feed_format text collate "C" not null,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  fetch_failures integer default 0 not null,
  next_fetch_at timestamp with time zone,
  bytes_read bigint default 0 not null,
  bytes_total bigint,
  elapsed_ms bigint default 0 not null,
  rows_read bigint default 0 not null,
  created bigint default 0 not null,
  updated bigint default 0 not null,
  unchanged bigint default 0 not null,
  rejected bigint default 0 not null,
  duplicate bigint default 0 not null,
  not_modified boolean default false not null,
  error jsonb,
  guard jsonb,
  issues jsonb default '[]'::jsonb not null,
  etag text,
  last_modified text,
  staging_table text collate "C",
  last_row bigint default 0 not null,
  constraint feed_runs_pkey PRIMARY KEY (catalog_id, id),
  constraint feed_runs_catalog_id_fkey FOREIGN KEY (catalog_id) REFERENCES product_catalogs(id) ON DELETE CASCADE,
  constraint feed_runs_feed_format_check CHECK ((feed_format = ANY (ARRAY['CSV'::text, 'TSV'::text, 'XML'::text]))),
  constraint feed_runs_id_check CHECK ((id ~ '^[0-9]{1,19}$'::text)),
  constraint feed_runs_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'FETCHING'::text, 'MERGING'::text, 'NEEDS_CONFIRMATION'::text, 'DONE'::text, 'FAILED'::text, 'SUPERSEDED'::text]))),
  constraint feed_runs_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'request'::text, 'operator'::text])))
);
CREATE UNIQUE INDEX feed_runs_active ON feed_runs USING btree (catalog_id, feed_id) WHERE ((state = ANY (ARRAY['QUEUED'::text, 'FETCHING'::text, 'MERGING'::text])) AND (NOT validate_only));
CREATE INDEX feed_runs_feed ON feed_runs USING btree (catalog_id, feed_id, id);
CREATE INDEX feed_runs_id ON feed_runs USING btree (id);

create table filtered_links (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  fields text[] not null,
  created_at timestamp with time zone not null,
  constraint filtered_links_pkey PRIMARY KEY (app_id, webhook_id),
  constraint filtered_links_app_id_webhook_id_fkey FOREIGN KEY (app_id, webhook_id) REFERENCES webhooks(app_id, id) ON DELETE CASCADE
);

create table filtered_rule_changes (
  xid xid8 default pg_current_xact_id() not null,
  app_id text collate "C" not null,
  rule_id text collate "C" not null,
  changed_at timestamp with time zone default now() not null
);
CREATE INDEX filtered_rule_changes_xid ON filtered_rule_changes USING btree (xid);

create table filtered_rule_counts (
  app_id text collate "C" not null,
  rules integer not null,
  constraint filtered_rule_counts_pkey PRIMARY KEY (app_id),
  constraint filtered_rule_counts_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint filtered_rule_counts_rules_check CHECK ((rules >= 0))
);

create table filtered_rules (
  app_id text collate "C" not null,
  id text collate "C" not null,
  value text not null,
  value_hash bytea not null,
  tag text,
  created_at timestamp with time zone not null,
  constraint filtered_rules_pkey PRIMARY KEY (app_id, id),
  constraint filtered_rules_value UNIQUE (app_id, value_hash),
  constraint filtered_rules_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE
);
CREATE INDEX filtered_rules_id ON filtered_rules USING btree (id);

create table funding_instruments (
  account_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  description text,
  entity_status text default 'ACTIVE'::text not null,
  currency text collate "C" not null,
  start_time timestamp with time zone not null,
  end_time timestamp with time zone,
  credit_limit_local_micro bigint,
  funded_amount_local_micro bigint,
  io_header text,
  spend_local_micro bigint default 0 not null,
  credit_card_status text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint funding_instruments_pkey PRIMARY KEY (account_id, id),
  constraint funding_instruments_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint funding_instruments_check CHECK ((end_time > start_time)),
  constraint funding_instruments_credit_card_status_check CHECK ((credit_card_status = ANY (ARRAY['APPROVAL_PENDING'::text, 'REJECTED'::text, 'DELETED'::text]))),
  constraint funding_instruments_credit_limit_local_micro_check CHECK ((credit_limit_local_micro >= 0)),
  constraint funding_instruments_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint funding_instruments_entity_status_check CHECK ((entity_status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text]))),
  constraint funding_instruments_funded_amount_local_micro_check CHECK ((funded_amount_local_micro >= 0)),
  constraint funding_instruments_spend_local_micro_check CHECK ((spend_local_micro >= 0)),
  constraint funding_instruments_type_check CHECK ((type = ANY (ARRAY['AGENCY_CREDIT_LINE'::text, 'CREDIT_CARD'::text, 'CREDIT_LINE'::text, 'INSERTION_ORDER'::text, 'PARTNER_MANAGED'::text])))
);
CREATE INDEX funding_instruments_created_at ON funding_instruments USING btree (account_id, created_at, id);
CREATE INDEX funding_instruments_deleted ON funding_instruments USING btree (account_id, deleted, id);
CREATE INDEX funding_instruments_end_time ON funding_instruments USING btree (account_id, end_time, id);
CREATE INDEX funding_instruments_funded ON funding_instruments USING btree (account_id, funded_amount_local_micro, id);
CREATE INDEX funding_instruments_start_time ON funding_instruments USING btree (account_id, start_time, id);
CREATE INDEX funding_instruments_updated_at ON funding_instruments USING btree (account_id, updated_at, id);

create unlogged table image_cache (
  url_hash uuid not null,
  problem jsonb,
  expires_at timestamp with time zone not null,
  constraint image_cache_pkey PRIMARY KEY (url_hash)
);
CREATE INDEX image_cache_expires_at ON image_cache USING btree (expires_at);

create table image_queue (
  catalog_id text collate "C" not null,
  product_key text collate "C" not null,
  due_at timestamp with time zone not null,
  tries integer default 0 not null,
  version integer default 0 not null,
  constraint image_queue_pkey PRIMARY KEY (catalog_id, product_key)
);
CREATE INDEX image_queue_due ON image_queue USING btree (catalog_id, due_at, product_key);

create table image_verdicts (
  catalog_id text collate "C" not null,
  product_key text collate "C" not null,
  field text collate "C" not null,
  "position" integer not null,
  url text not null,
  code text collate "C" not null,
  message text not null,
  checked_at timestamp with time zone not null,
  constraint image_verdicts_pkey PRIMARY KEY (catalog_id, product_key, field, "position"),
  constraint image_verdicts_field_check CHECK ((field = ANY (ARRAY['image_link'::text, 'additional_image_link'::text])))
);

create table item_groups (
  catalog_id text collate "C" not null,
  item_group_id text collate "C" not null,
  item_group_key text collate "C",
  first_product_key text collate "C" not null,
  constraint item_groups_pkey PRIMARY KEY (catalog_id, item_group_id)
);
CREATE INDEX item_groups_first ON item_groups USING btree (catalog_id, first_product_key);
CREATE UNIQUE INDEX item_groups_key ON item_groups USING btree (catalog_id, item_group_key) WHERE (item_group_key IS NOT NULL);

create table jobs (
  id text collate "C" not null,
  kind text not null,
  key text collate "C",
  payload jsonb default '{}'::jsonb not null,
  state text default 'pending'::text not null,
  due_at timestamp with time zone not null,
  attempts integer default 0 not null,
  revision integer default 0 not null,
  lease_until timestamp with time zone,
  lease_token uuid,
  last_error text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint jobs_pkey PRIMARY KEY (id),
  constraint jobs_check CHECK (((state = 'running'::text) = ((lease_token IS NOT NULL) AND (lease_until IS NOT NULL)))),
  constraint jobs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'failed'::text])))
);
CREATE INDEX jobs_due ON jobs USING btree (kind, due_at, id) WHERE (state = 'pending'::text);
CREATE INDEX jobs_failed ON jobs USING btree (updated_at) WHERE (state = 'failed'::text);
CREATE UNIQUE INDEX jobs_kind_key ON jobs USING btree (kind, key) WHERE (key IS NOT NULL);
CREATE INDEX jobs_leases ON jobs USING btree (lease_until) WHERE (state = 'running'::text);

create table line_item_curated_categories (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  curated_category_id text collate "C" not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint line_item_curated_categories_pkey PRIMARY KEY (account_id, id),
  constraint line_item_curated_categories_account_id_line_item_id_fkey FOREIGN KEY (account_id, line_item_id) REFERENCES line_items(account_id, id)
);
CREATE INDEX line_item_curated_categories_created_at ON line_item_curated_categories USING btree (account_id, created_at, id);
CREATE INDEX line_item_curated_categories_deleted ON line_item_curated_categories USING btree (account_id, deleted, id);
CREATE UNIQUE INDEX line_item_curated_categories_one ON line_item_curated_categories USING btree (account_id, line_item_id) WHERE (NOT deleted);
CREATE INDEX line_item_curated_categories_updated_at ON line_item_curated_categories USING btree (account_id, updated_at, id);

create table line_items (
  account_id text collate "C" not null,
  id text collate "C" not null,
  campaign_id text collate "C" not null,
  funding_instrument_id text collate "C" not null,
  name text collate "C",
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
  start_time timestamp with time zone,
  end_time timestamp with time zone,
  daily_budget_amount_local_micro bigint,
  total_budget_amount_local_micro bigint,
  duration_in_days integer,
  frequency_cap integer,
  standard_delivery boolean,
  entity_status text not null,
  automatic_tweet_promotion boolean,
  android_app_store_identifier text,
  ios_app_store_identifier text,
  audience_expansion text,
  categories text[] default '{}'::text[] not null,
  currency text collate "C" not null,
  creative_source text default 'MANUAL'::text not null,
  catalog_id text collate "C",
  product_set_id text collate "C",
  spend_local_micro bigint default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint line_items_pkey PRIMARY KEY (account_id, id),
  constraint line_items_account_id_campaign_id_fkey FOREIGN KEY (account_id, campaign_id) REFERENCES campaigns(account_id, id),
  constraint line_items_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint line_items_daily_budget_amount_local_micro_check CHECK ((daily_budget_amount_local_micro > 0)),
  constraint line_items_entity_status_check CHECK ((entity_status = ANY (ARRAY['ACTIVE'::text, 'DRAFT'::text, 'PAUSED'::text]))),
  constraint line_items_spend_local_micro_check CHECK ((spend_local_micro >= 0)),
  constraint line_items_total_budget_amount_local_micro_check CHECK ((total_budget_amount_local_micro > 0))
);
CREATE INDEX line_items_bid ON line_items USING btree (account_id, bid_amount_local_micro, id);
CREATE INDEX line_items_campaign ON line_items USING btree (account_id, campaign_id, id);
CREATE INDEX line_items_created_at ON line_items USING btree (account_id, created_at, id);
CREATE INDEX line_items_deleted ON line_items USING btree (account_id, deleted, id);
CREATE INDEX line_items_funding_instrument ON line_items USING btree (account_id, funding_instrument_id, id);
CREATE INDEX line_items_name_folded ON line_items USING btree (account_id, name_folded, id);
CREATE INDEX line_items_updated_at ON line_items USING btree (account_id, updated_at, id);

create table media_creatives (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  account_media_id text collate "C" not null,
  landing_url text,
  creative_type text collate "C" not null,
  entity_status text default 'ACTIVE'::text not null,
  approval_status text default 'ACCEPTED'::text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint media_creatives_pkey PRIMARY KEY (account_id, id),
  constraint media_creatives_account_id_account_media_id_fkey FOREIGN KEY (account_id, account_media_id) REFERENCES account_media(account_id, id),
  constraint media_creatives_account_id_line_item_id_fkey FOREIGN KEY (account_id, line_item_id) REFERENCES line_items(account_id, id),
  constraint media_creatives_approval_status_check CHECK ((approval_status = ANY (ARRAY['ACCEPTED'::text, 'UNDER_REVIEW'::text, 'REJECTED'::text]))),
  constraint media_creatives_entity_status_check CHECK ((entity_status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text])))
);
CREATE INDEX media_creatives_created_at ON media_creatives USING btree (account_id, created_at, id);
CREATE INDEX media_creatives_deleted ON media_creatives USING btree (account_id, deleted, id);
CREATE INDEX media_creatives_line_item ON media_creatives USING btree (account_id, line_item_id, id);
CREATE INDEX media_creatives_updated_at ON media_creatives USING btree (account_id, updated_at, id);

create table news (
  id text collate "C" not null,
  story text not null,
  words tsvector not null,
  updated_at timestamp with time zone not null,
  occurred_at timestamp with time zone not null,
  constraint news_pkey PRIMARY KEY (id)
);
CREATE INDEX news_updated_at ON news USING btree (updated_at DESC, id DESC);
CREATE INDEX news_words ON news USING gin (words);

create unlogged table nodes (
  id text collate "C" not null,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  memory_bytes bigint not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  constraint nodes_pkey PRIMARY KEY (id)
);

create table notes (
  user_id text collate "C" not null,
  id text collate "C" not null,
  test_mode boolean not null,
  post_id text collate "C" not null,
  text text not null,
  classification text not null,
  misleading_tags text[] not null,
  trustworthy_sources boolean not null,
  is_media_note boolean,
  status text,
  test_result jsonb,
  created_at timestamp with time zone not null,
  constraint notes_pkey PRIMARY KEY (user_id, id),
  constraint notes_once UNIQUE (user_id, test_mode, post_id),
  constraint notes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint notes_check CHECK (((test_mode = (status IS NULL)) AND (test_mode = (test_result IS NOT NULL))))
);
CREATE INDEX notes_written ON notes USING btree (user_id, test_mode, id);

create table oauth1_access_tokens (
  token_hash bytea not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  token_secret bytea not null,
  permissions text not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint oauth1_access_tokens_pkey PRIMARY KEY (token_hash),
  constraint oauth1_access_tokens_id UNIQUE (id),
  constraint oauth1_access_tokens_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint oauth1_access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint oauth1_access_tokens_permissions_check CHECK ((permissions = ANY (ARRAY['read'::text, 'read-write'::text, 'read-write-directmessages'::text])))
);
CREATE INDEX oauth1_access_tokens_app_user ON oauth1_access_tokens USING btree (app_id, user_id) WHERE (revoked_at IS NULL);
CREATE INDEX oauth1_access_tokens_user ON oauth1_access_tokens USING btree (user_id);

create unlogged table oauth1_nonces (
  nonce_hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint oauth1_nonces_pkey PRIMARY KEY (nonce_hash)
);
CREATE INDEX oauth1_nonces_expires_at ON oauth1_nonces USING btree (expires_at);

create table oauth1_request_tokens (
  token_hash bytea not null,
  app_id text collate "C" not null,
  token_secret bytea not null,
  callback text not null,
  permissions text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  user_id text collate "C",
  verifier_hash bytea,
  verifier_failures integer default 0 not null,
  constraint oauth1_request_tokens_pkey PRIMARY KEY (token_hash),
  constraint oauth1_request_tokens_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint oauth1_request_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint oauth1_request_tokens_check CHECK (((user_id IS NULL) = (verifier_hash IS NULL))),
  constraint oauth1_request_tokens_permissions_check CHECK ((permissions = ANY (ARRAY['read'::text, 'read-write'::text, 'read-write-directmessages'::text])))
);
CREATE INDEX oauth1_request_tokens_expires_at ON oauth1_request_tokens USING btree (expires_at);

create table oauth2_access_tokens (
  token_hash bytea not null,
  id text collate "C" not null,
  grant_id text collate "C" not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint oauth2_access_tokens_pkey PRIMARY KEY (token_hash),
  constraint oauth2_access_tokens_id UNIQUE (id),
  constraint oauth2_access_tokens_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES oauth2_grants(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_access_tokens_expires_at ON oauth2_access_tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX oauth2_access_tokens_grant ON oauth2_access_tokens USING btree (grant_id);

create table oauth2_codes (
  code_hash bytea not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  scopes text[] not null,
  redirect_uri text not null,
  code_challenge text not null,
  code_challenge_method text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  grant_id text collate "C",
  constraint oauth2_codes_pkey PRIMARY KEY (code_hash),
  constraint oauth2_codes_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint oauth2_codes_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES oauth2_grants(id) ON DELETE CASCADE,
  constraint oauth2_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint oauth2_codes_code_challenge_method_check CHECK ((code_challenge_method = ANY (ARRAY['S256'::text, 'plain'::text])))
);
CREATE INDEX oauth2_codes_expires_at ON oauth2_codes USING btree (expires_at);
CREATE INDEX oauth2_codes_grant ON oauth2_codes USING btree (grant_id) WHERE (grant_id IS NOT NULL);

create table oauth2_grants (
  id text collate "C" not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint oauth2_grants_pkey PRIMARY KEY (id),
  constraint oauth2_grants_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint oauth2_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_grants_app_user ON oauth2_grants USING btree (app_id, user_id);
CREATE INDEX oauth2_grants_user ON oauth2_grants USING btree (user_id);

create table oauth2_refresh_tokens (
  token_hash bytea not null,
  grant_id text collate "C" not null,
  created_at timestamp with time zone not null,
  rotated_at timestamp with time zone,
  constraint oauth2_refresh_tokens_pkey PRIMARY KEY (token_hash),
  constraint oauth2_refresh_tokens_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES oauth2_grants(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_refresh_tokens_grant ON oauth2_refresh_tokens USING btree (grant_id);
CREATE INDEX oauth2_refresh_tokens_rotated_at ON oauth2_refresh_tokens USING btree (rotated_at) WHERE (rotated_at IS NOT NULL);

create table post_usage (
  project_id text collate "C" not null,
  day date not null,
  app_id text collate "C" not null,
  posts bigint not null,
  constraint post_usage_pkey PRIMARY KEY (project_id, day, app_id)
);
CREATE INDEX post_usage_day ON post_usage USING btree (day);

create table post_usage_progress (
  id boolean default true not null,
  counted_until timestamp with time zone not null,
  constraint post_usage_progress_pkey PRIMARY KEY (id),
  constraint post_usage_progress_id_check CHECK (id)
);

create table posts (
  id text collate "C" not null,
  author_id text collate "C" not null,
  created_at timestamp with time zone not null,
  protected boolean not null,
  replaced_by text collate "C",
  terms integer[] not null,
  payload text not null,
  includes text,
  constraint posts_pkey PRIMARY KEY (id)
);
CREATE INDEX posts_created_at ON posts USING btree (created_at, id);
CREATE INDEX posts_replaced_by ON posts USING btree (replaced_by) WHERE (replaced_by IS NOT NULL);
CREATE INDEX posts_terms ON posts USING gin (terms);

create table powerstream_rules (
  app_id text collate "C" not null,
  id text collate "C" not null,
  value text not null,
  value_hash bytea not null,
  tag text,
  created_at timestamp with time zone not null,
  constraint powerstream_rules_pkey PRIMARY KEY (app_id, id),
  constraint powerstream_rules_value UNIQUE (app_id, value_hash),
  constraint powerstream_rules_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE
);

create table product_catalogs (
  id text collate "C" not null,
  user_id text collate "C" not null,
  environment text collate "C" not null,
  name text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint product_catalogs_pkey PRIMARY KEY (id),
  constraint product_catalogs_one_per_user UNIQUE (user_id, environment),
  constraint product_catalogs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint product_catalogs_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  constraint product_catalogs_id_check CHECK ((id ~ '^[0-9]{1,19}$'::text)),
  constraint product_catalogs_name_check CHECK ((name <> ''::text))
);

create table product_set_members (
  catalog_id text collate "C" not null,
  set_id text collate "C" not null,
  product_key text collate "C" not null,
  constraint product_set_members_pkey PRIMARY KEY (catalog_id, set_id, product_key)
);

create table product_sets (
  catalog_id text collate "C" not null,
  id text collate "C" not null,
  name text not null,
  description text,
  type text collate "C" not null,
  filters jsonb default '[]'::jsonb not null,
  processing_status text collate "C" not null,
  processed_key text collate "C",
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint product_sets_pkey PRIMARY KEY (catalog_id, id),
  constraint product_sets_catalog_id_fkey FOREIGN KEY (catalog_id) REFERENCES product_catalogs(id) ON DELETE CASCADE,
  constraint product_sets_check CHECK (((type = 'FILTERED'::text) = (jsonb_array_length(filters) > 0))),
  constraint product_sets_check1 CHECK (((type = 'FILTERED'::text) OR (processing_status = 'DONE'::text))),
  constraint product_sets_id_check CHECK ((id ~ '^[0-9]{1,19}$'::text)),
  constraint product_sets_name_check CHECK ((name <> ''::text)),
  constraint product_sets_processing_status_check CHECK ((processing_status = ANY (ARRAY['DONE'::text, 'PROCESSING'::text, 'FAILED'::text]))),
  constraint product_sets_type_check CHECK ((type = ANY (ARRAY['MANUAL'::text, 'FILTERED'::text])))
);

create table products (
  catalog_id text collate "C" not null,
  id text collate "C" not null,
  product_key text collate "C" not null,
  title text not null,
  description text not null,
  availability text not null,
  condition text not null,
  price text not null,
  price_amount bigint not null,
  price_currency text collate "C" not null,
  link text not null,
  image_link text not null,
  brand text,
  gtin text,
  mpn text,
  mobile_link text,
  additional_image_link text,
  ext_product_category text,
  product_type text,
  inventory integer,
  sale_price text,
  sale_price_amount bigint,
  sale_price_effective_date text,
  item_group_id text collate "C",
  gender text,
  color text,
  size text,
  age_group text,
  custom_label_0 text,
  custom_label_1 text,
  custom_label_2 text,
  custom_label_3 text,
  custom_label_4 text,
  content_hash uuid not null,
  images_changed boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  group_changed boolean default true not null,
  left_item_group_id text collate "C",
  constraint products_pkey PRIMARY KEY (catalog_id, id)
) with (fillfactor=90);
CREATE INDEX products_grouped ON products USING btree (catalog_id, item_group_id, product_key) WHERE (item_group_id IS NOT NULL);
CREATE UNIQUE INDEX products_key ON products USING btree (catalog_id, product_key);
CREATE INDEX products_ungrouped ON products USING btree (catalog_id, product_key) WHERE (item_group_id IS NULL);

create table promotable_users (
  account_id text collate "C" not null,
  id text collate "C" not null,
  user_id text collate "C" not null,
  promotable_user_type text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint promotable_users_pkey PRIMARY KEY (account_id, id),
  constraint promotable_users_account_id_fkey FOREIGN KEY (account_id) REFERENCES ad_accounts(id),
  constraint promotable_users_promotable_user_type_check CHECK ((promotable_user_type = ANY (ARRAY['FULL'::text, 'RETWEETS_ONLY'::text]))),
  constraint promotable_users_user_id_check CHECK ((user_id ~ '^[0-9]{1,19}$'::text))
);
CREATE UNIQUE INDEX promotable_users_owner ON promotable_users USING btree (account_id) WHERE ((promotable_user_type = 'FULL'::text) AND (NOT deleted));
CREATE UNIQUE INDEX promotable_users_user ON promotable_users USING btree (account_id, user_id) WHERE (NOT deleted);

create table promoted_accounts (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  user_id text collate "C" not null,
  entity_status text default 'ACTIVE'::text not null,
  approval_status text default 'ACCEPTED'::text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint promoted_accounts_pkey PRIMARY KEY (account_id, id),
  constraint promoted_accounts_account_id_line_item_id_fkey FOREIGN KEY (account_id, line_item_id) REFERENCES line_items(account_id, id),
  constraint promoted_accounts_approval_status_check CHECK ((approval_status = ANY (ARRAY['ACCEPTED'::text, 'UNDER_REVIEW'::text, 'REJECTED'::text]))),
  constraint promoted_accounts_entity_status_check CHECK ((entity_status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text]))),
  constraint promoted_accounts_user_id_check CHECK ((user_id ~ '^[0-9]{1,19}$'::text))
);
CREATE INDEX promoted_accounts_created_at ON promoted_accounts USING btree (account_id, created_at, id);
CREATE INDEX promoted_accounts_deleted ON promoted_accounts USING btree (account_id, deleted, id);
CREATE INDEX promoted_accounts_entity_status ON promoted_accounts USING btree (account_id, entity_status, id);
CREATE INDEX promoted_accounts_line_item ON promoted_accounts USING btree (account_id, line_item_id, id);
CREATE UNIQUE INDEX promoted_accounts_pair ON promoted_accounts USING btree (account_id, line_item_id, user_id) WHERE (NOT deleted);
CREATE INDEX promoted_accounts_updated_at ON promoted_accounts USING btree (account_id, updated_at, id);

create table promoted_tweets (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  tweet_id text collate "C" not null,
  entity_status text default 'ACTIVE'::text not null,
  approval_status text default 'ACCEPTED'::text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint promoted_tweets_pkey PRIMARY KEY (account_id, id),
  constraint promoted_tweets_account_id_line_item_id_fkey FOREIGN KEY (account_id, line_item_id) REFERENCES line_items(account_id, id),
  constraint promoted_tweets_approval_status_check CHECK ((approval_status = ANY (ARRAY['ACCEPTED'::text, 'UNDER_REVIEW'::text, 'REJECTED'::text]))),
  constraint promoted_tweets_entity_status_check CHECK ((entity_status = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text]))),
  constraint promoted_tweets_tweet_id_check CHECK ((tweet_id ~ '^[0-9]{1,19}$'::text))
);
CREATE INDEX promoted_tweets_created_at ON promoted_tweets USING btree (account_id, created_at, id);
CREATE INDEX promoted_tweets_deleted ON promoted_tweets USING btree (account_id, deleted, id);
CREATE INDEX promoted_tweets_entity_status ON promoted_tweets USING btree (account_id, entity_status, id);
CREATE UNIQUE INDEX promoted_tweets_pair ON promoted_tweets USING btree (account_id, line_item_id, tweet_id);
CREATE INDEX promoted_tweets_updated_at ON promoted_tweets USING btree (account_id, updated_at, id);

create table published_names (
  name text collate "C" not null,
  event_id text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint published_names_pkey PRIMARY KEY (name)
);
CREATE INDEX published_names_created_at ON published_names USING btree (created_at);

create unlogged table rate_limits (
  key text collate "C" not null,
  window_ends_at timestamp with time zone not null,
  used bigint not null,
  constraint rate_limits_pkey PRIMARY KEY (key)
);
CREATE INDEX rate_limits_window_ends_at ON rate_limits USING btree (window_ends_at);

create table reference_data (
  kind text collate "C" not null,
  rows jsonb not null,
  origin text not null,
  digest text collate "C",
  updated_at timestamp with time zone not null,
  constraint reference_data_pkey PRIMARY KEY (kind),
  constraint reference_data_origin_check CHECK ((origin = ANY (ARRAY['shipped'::text, 'operator'::text]))),
  constraint reference_data_rows_check CHECK ((jsonb_typeof(rows) = 'array'::text))
);

create table replays (
  app_id text collate "C" not null,
  webhook_id text collate "C" not null,
  id text collate "C" not null,
  from_date timestamp with time zone not null,
  to_date timestamp with time zone not null,
  state text default 'pending'::text not null,
  cursor_created_at timestamp with time zone,
  cursor_id text collate "C",
  delivered bigint default 0 not null,
  failed bigint default 0 not null,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  detail text,
  constraint replays_pkey PRIMARY KEY (app_id, webhook_id, id),
  constraint replays_app_id_webhook_id_fkey FOREIGN KEY (app_id, webhook_id) REFERENCES webhooks(app_id, id) ON DELETE CASCADE,
  constraint replays_check CHECK ((to_date > from_date)),
  constraint replays_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'complete'::text, 'incomplete'::text])))
);
CREATE INDEX replays_created_at ON replays USING btree (created_at);
CREATE INDEX replays_id ON replays USING btree (id);
CREATE UNIQUE INDEX replays_in_progress ON replays USING btree (app_id, webhook_id) WHERE (state = ANY (ARRAY['pending'::text, 'running'::text]));

create table scheduled_feeds (
  catalog_id text collate "C" not null,
  id text collate "C" not null,
  feed_url text not null,
  feed_format text collate "C" not null,
  frequency text collate "C" not null,
  repeat text collate "C",
  start_time text collate "C" not null,
  time_zone text not null,
  etag text,
  last_modified text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint scheduled_feeds_pkey PRIMARY KEY (catalog_id, id),
  constraint scheduled_feeds_one_per_catalog UNIQUE (catalog_id),
  constraint scheduled_feeds_catalog_id_fkey FOREIGN KEY (catalog_id) REFERENCES product_catalogs(id) ON DELETE CASCADE,
  constraint scheduled_feeds_feed_format_check CHECK ((feed_format = ANY (ARRAY['CSV'::text, 'TSV'::text, 'XML'::text]))),
  constraint scheduled_feeds_frequency_check CHECK ((frequency = ANY (ARRAY['HOURLY'::text, 'DAILY'::text, 'WEEKLY'::text]))),
  constraint scheduled_feeds_id_check CHECK ((id ~ '^[0-9]{1,19}$'::text)),
  constraint scheduled_feeds_repeat CHECK (
CASE frequency
    WHEN 'HOURLY'::text THEN (COALESCE(repeat, ''::text) = ANY (ARRAY['1'::text, '2'::text, '3'::text, '4'::text, '6'::text, '8'::text, '12'::text]))
    WHEN 'WEEKLY'::text THEN (COALESCE(repeat, ''::text) = ANY (ARRAY['MONDAY'::text, 'TUESDAY'::text, 'WEDNESDAY'::text, 'THURSDAY'::text, 'FRIDAY'::text, 'SATURDAY'::text, 'SUNDAY'::text]))
    ELSE (repeat IS NULL)
END),
  constraint scheduled_feeds_start_time_check CHECK ((start_time ~ '^[0-2][0-9]:[0-5][0-9]$'::text))
);

create table secret_key_check (
  id boolean default true not null,
  sealed bytea not null,
  constraint secret_key_check_pkey PRIMARY KEY (id),
  constraint secret_key_check_id_check CHECK (id)
);

create table sessions (
  token_hash bytea not null,
  user_id text collate "C",
  purpose text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  admin_token_hash bytea,
  constraint sessions_pkey PRIMARY KEY (token_hash),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint sessions_purpose_check CHECK ((purpose = ANY (ARRAY['authorize'::text, 'console'::text]))),
  constraint sessions_whose CHECK (((user_id IS NULL) <> (admin_token_hash IS NULL)))
);
CREATE INDEX sessions_admin_token ON sessions USING btree (admin_token_hash) WHERE (admin_token_hash IS NOT NULL);
CREATE INDEX sessions_expires_at ON sessions USING btree (expires_at);
CREATE INDEX sessions_user ON sessions USING btree (user_id);

create table sign_in_attempts (
  key text collate "C" not null,
  attempts integer not null,
  window_ends_at timestamp with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (key)
);
CREATE INDEX sign_in_attempts_window_ends_at ON sign_in_attempts USING btree (window_ends_at);

create table stream_connections (
  app_id text collate "C" not null,
  "position" text collate "C" not null,
  id text collate "C" not null,
  node_id text collate "C" not null,
  endpoint_name text not null,
  recovery boolean default false not null,
  client_ip text,
  connected_at timestamp with time zone not null,
  disconnected_at timestamp with time zone,
  disconnect_reason text,
  constraint stream_connections_pkey PRIMARY KEY (app_id, "position"),
  constraint stream_connections_id UNIQUE (app_id, id),
  constraint stream_connections_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint stream_connections_check CHECK (((disconnected_at IS NULL) = (disconnect_reason IS NULL))),
  constraint stream_connections_endpoint_name_check CHECK ((endpoint_name = ANY (ARRAY['filtered_stream'::text, 'activity_stream'::text])))
);
CREATE INDEX stream_connections_ended ON stream_connections USING btree (disconnected_at) WHERE (disconnected_at IS NOT NULL);
CREATE INDEX stream_connections_node ON stream_connections USING btree (node_id) WHERE (disconnected_at IS NULL);
CREATE INDEX stream_connections_open ON stream_connections USING btree (app_id, endpoint_name) WHERE (disconnected_at IS NULL);

create table stream_nodes (
  id text collate "C" not null,
  lease_until timestamp with time zone not null,
  constraint stream_nodes_pkey PRIMARY KEY (id)
);

create table targeting_criteria (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  targeting_type text collate "C" not null,
  targeting_value text collate "C" not null,
  operator_type text default 'EQ'::text not null,
  name text,
  location_type text,
  automatic boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint targeting_criteria_pkey PRIMARY KEY (account_id, id),
  constraint targeting_criteria_account_id_line_item_id_fkey FOREIGN KEY (account_id, line_item_id) REFERENCES line_items(account_id, id),
  constraint targeting_criteria_operator_type_check CHECK ((operator_type = ANY (ARRAY['EQ'::text, 'NE'::text, 'GTE'::text, 'LT'::text])))
);
CREATE INDEX targeting_criteria_created_at ON targeting_criteria USING btree (account_id, line_item_id, created_at, id);
CREATE INDEX targeting_criteria_line_item ON targeting_criteria USING btree (account_id, line_item_id, id);
CREATE UNIQUE INDEX targeting_criteria_once ON targeting_criteria USING btree (account_id, line_item_id, targeting_type, targeting_value, operator_type) WHERE (NOT deleted);
CREATE INDEX targeting_criteria_updated_at ON targeting_criteria USING btree (account_id, line_item_id, updated_at, id);

create table test_clock (
  id boolean default true not null,
  offset_ms bigint not null,
  constraint test_clock_pkey PRIMARY KEY (id),
  constraint test_clock_id_check CHECK (id)
);

create table tracking_tags (
  account_id text collate "C" not null,
  id text collate "C" not null,
  line_item_id text collate "C" not null,
  tracking_tag_url text not null,
  tracking_tag_type text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted boolean default false not null,
  constraint tracking_tags_pkey PRIMARY KEY (account_id, id),
  constraint tracking_tags_account_id_line_item_id_fkey FOREIGN KEY (account_id, line_item_id) REFERENCES line_items(account_id, id),
  constraint tracking_tags_tracking_tag_type_check CHECK ((tracking_tag_type = ANY (ARRAY['IMPRESSION_TAG'::text, 'CLICK_TRACKER'::text])))
);
CREATE INDEX tracking_tags_created_at ON tracking_tags USING btree (account_id, created_at, id);
CREATE INDEX tracking_tags_deleted ON tracking_tags USING btree (account_id, deleted, id);
CREATE INDEX tracking_tags_line_item ON tracking_tags USING btree (account_id, line_item_id, id);
CREATE INDEX tracking_tags_updated_at ON tracking_tags USING btree (account_id, updated_at, id);

create table users (
  id text collate "C" not null,
  username text not null,
  name text not null,
  password_hash text,
  protected boolean default false not null,
  suspended boolean default false not null,
  profile jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_id_check CHECK ((id ~ '^[0-9]{1,19}$'::text)),
  constraint users_profile_check CHECK ((jsonb_typeof(profile) = 'object'::text)),
  constraint users_username_check CHECK ((username ~ '^[A-Za-z0-9_]{1,50}$'::text))
);
CREATE UNIQUE INDEX users_username ON users USING btree (lower(username));

create table webhooks (
  app_id text collate "C" not null,
  id text collate "C" not null,
  url text not null,
  valid boolean not null,
  created_at timestamp with time zone not null,
  last_success_at timestamp with time zone not null,
  last_crc_at timestamp with time zone,
  last_crc_outcome text,
  invalid_since timestamp with time zone,
  invalid_reason text,
  url_key text not null,
  constraint webhooks_pkey PRIMARY KEY (app_id, id),
  constraint webhooks_app_url UNIQUE (app_id, url_key),
  constraint webhooks_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint webhooks_check CHECK ((valid = (invalid_since IS NULL)))
);
CREATE INDEX webhooks_id ON webhooks USING btree (id);
CREATE INDEX webhooks_last_success_at ON webhooks USING btree (last_success_at);

CREATE TRIGGER filtered_rules_deleted AFTER DELETE ON filtered_rules REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION announce_deleted_rules();

CREATE TRIGGER webhooks_deleted AFTER DELETE ON webhooks FOR EACH ROW EXECUTE FUNCTION announce_deleted_webhook();
