-- The schema that the migrations in src/storage/migrations add up to, for reading; migrations are what runs.
-- Written by "node scripts/schema.ts --write" and checked by a test. Partitions of a table are not shown.

create type delivery_cause as enum ('live', 'resend', 'replay');

create type delivery_outcome as enum ('delivered', 'retry', 'failed', 'held');

create sequence node_numbers as bigint minvalue 0 maxvalue 1023 start 0 increment 1 cycle;

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

create table attempts (
  created_at timestamp with time zone not null,
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

create unlogged table rate_limits (
  key text collate "C" not null,
  window_ends_at timestamp with time zone not null,
  used bigint not null,
  constraint rate_limits_pkey PRIMARY KEY (key)
);
CREATE INDEX rate_limits_window_ends_at ON rate_limits USING btree (window_ends_at);

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
CREATE UNIQUE INDEX replays_in_progress ON replays USING btree (app_id, webhook_id) WHERE (state = ANY (ARRAY['pending'::text, 'running'::text]));

create table secret_key_check (
  id boolean default true not null,
  sealed bytea not null,
  constraint secret_key_check_pkey PRIMARY KEY (id),
  constraint secret_key_check_id_check CHECK (id)
);

create table sessions (
  token_hash bytea not null,
  user_id text collate "C" not null,
  purpose text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint sessions_pkey PRIMARY KEY (token_hash),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint sessions_purpose_check CHECK ((purpose = ANY (ARRAY['authorize'::text, 'console'::text])))
);
CREATE INDEX sessions_expires_at ON sessions USING btree (expires_at);
CREATE INDEX sessions_user ON sessions USING btree (user_id);

create table sign_in_attempts (
  key text collate "C" not null,
  attempts integer not null,
  window_ends_at timestamp with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (key)
);
CREATE INDEX sign_in_attempts_window_ends_at ON sign_in_attempts USING btree (window_ends_at);

create table test_clock (
  id boolean default true not null,
  offset_ms bigint not null,
  constraint test_clock_pkey PRIMARY KEY (id),
  constraint test_clock_id_check CHECK (id)
);

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
  constraint webhooks_pkey PRIMARY KEY (app_id, id),
  constraint webhooks_app_url UNIQUE (app_id, url),
  constraint webhooks_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  constraint webhooks_check CHECK ((valid = (invalid_since IS NULL)))
);
CREATE INDEX webhooks_id ON webhooks USING btree (id);
CREATE INDEX webhooks_last_success_at ON webhooks USING btree (last_success_at);
