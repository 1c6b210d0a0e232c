-- Apps, users and everything that proves who is asking. Tokens are kept as SHA-256 hashes; secrets that must be
-- readable again are sealed with a key that is not in this database (docs/decisions/0015).

create table users (
  id text collate "C" primary key check (id ~ '^[0-9]{1,19}$'),
  username text not null check (username ~ '^[A-Za-z0-9_]{1,50}$'),
  name text not null,
  -- Null: cannot sign in.
  password_hash text,
  protected boolean not null default false,
  suspended boolean not null default false,
  profile jsonb not null default '{}' check (jsonb_typeof(profile) = 'object'),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- Ann and ann are one name.
create unique index users_username on users (lower(username));

create table apps (
  id text collate "C" primary key check (id ~ '^[0-9]{1,19}$'),
  name text not null check (name <> ''),
  owner_user_id text collate "C" references users (id),
  -- An app outside a project is not enrolled for v2.
  project_id text collate "C",
  permissions text not null default 'read'
    check (permissions in ('read', 'read-write', 'read-write-directmessages')),
  consumer_key text collate "C" not null constraint apps_consumer_key unique,
  consumer_secret bytea not null,
  -- While a secret is being rotated both are valid.
  previous_consumer_secret bytea,
  previous_consumer_secret_valid_until timestamptz,
  client_id text collate "C" not null constraint apps_client_id unique,
  client_type text not null default 'confidential' check (client_type in ('public', 'confidential')),
  client_secret_hash bytea,
  redirect_uris text[] not null default '{}' constraint apps_redirect_uris check (cardinality(redirect_uris) <= 10),
  products text[] not null default '{}',
  ads_access text not null default 'none' check (ads_access in ('none', 'read', 'read-write')),
  quotas jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object'),
  suspended boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((previous_consumer_secret is null) = (previous_consumer_secret_valid_until is null)),
  check ((client_type = 'public') = (client_secret_hash is null))
);
create index apps_owner on apps (owner_user_id) where owner_user_id is not null;

create table app_bearer_tokens (
  token_hash bytea primary key,
  id text collate "C" not null constraint app_bearer_tokens_id unique,
  app_id text collate "C" not null references apps (id) on delete cascade,
  -- Asking again must answer with the same token, so it is sealed and not only hashed.
  token bytea,
  created_at timestamptz not null,
  revoked_at timestamptz,
  check ((token is null) = (revoked_at is not null))
);
-- One live token per app.
create unique index app_bearer_tokens_live on app_bearer_tokens (app_id) where revoked_at is null;

-- A grant is what a user allowed an app through OAuth 2.0. All tokens that descend from it fall with it.
create table oauth2_grants (
  id text collate "C" primary key,
  app_id text collate "C" not null references apps (id) on delete cascade,
  user_id text collate "C" not null references users (id) on delete cascade,
  scopes text[] not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index oauth2_grants_app_user on oauth2_grants (app_id, user_id);
create index oauth2_grants_user on oauth2_grants (user_id);

create table oauth2_codes (
  code_hash bytea primary key,
  app_id text collate "C" not null references apps (id) on delete cascade,
  user_id text collate "C" not null references users (id) on delete cascade,
  scopes text[] not null,
  redirect_uri text not null,
  code_challenge text not null,
  code_challenge_method text not null check (code_challenge_method in ('S256', 'plain')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Set when the code was exchanged. A second exchange revokes the grant.
  grant_id text collate "C" references oauth2_grants (id) on delete cascade
);
create index oauth2_codes_expires_at on oauth2_codes (expires_at);
create index oauth2_codes_grant on oauth2_codes (grant_id) where grant_id is not null;

create table oauth2_access_tokens (
  token_hash bytea primary key,
  id text collate "C" not null constraint oauth2_access_tokens_id unique,
  grant_id text collate "C" not null references oauth2_grants (id) on delete cascade,
  -- At most those of the grant; a refresh may ask for fewer.
  scopes text[] not null,
  created_at timestamptz not null,
  -- Null: never.
  expires_at timestamptz,
  revoked_at timestamptz
);
create index oauth2_access_tokens_grant on oauth2_access_tokens (grant_id);
create index oauth2_access_tokens_expires_at on oauth2_access_tokens (expires_at) where expires_at is not null;

create table oauth2_refresh_tokens (
  token_hash bytea primary key,
  grant_id text collate "C" not null references oauth2_grants (id) on delete cascade,
  created_at timestamptz not null,
  -- Used once and replaced. Showing it again revokes the grant.
  rotated_at timestamptz
);
create index oauth2_refresh_tokens_grant on oauth2_refresh_tokens (grant_id);
create index oauth2_refresh_tokens_rotated_at on oauth2_refresh_tokens (rotated_at) where rotated_at is not null;

create table oauth1_request_tokens (
  token_hash bytea primary key,
  app_id text collate "C" not null references apps (id) on delete cascade,
  token_secret bytea not null,
  callback text not null,
  permissions text not null check (permissions in ('read', 'read-write', 'read-write-directmessages')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Both set when the user allowed it.
  user_id text collate "C" references users (id) on delete cascade,
  verifier_hash bytea,
  -- A PIN is short, so guesses are counted.
  verifier_failures int not null default 0,
  check ((user_id is null) = (verifier_hash is null))
);
create index oauth1_request_tokens_expires_at on oauth1_request_tokens (expires_at);

create table oauth1_access_tokens (
  token_hash bytea primary key,
  id text collate "C" not null constraint oauth1_access_tokens_id unique,
  app_id text collate "C" not null references apps (id) on delete cascade,
  user_id text collate "C" not null references users (id) on delete cascade,
  token_secret bytea not null,
  permissions text not null check (permissions in ('read', 'read-write', 'read-write-directmessages')),
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index oauth1_access_tokens_app_user on oauth1_access_tokens (app_id, user_id) where revoked_at is null;
create index oauth1_access_tokens_user on oauth1_access_tokens (user_id);

-- Signed requests that were seen (docs/decisions/0017). Lost in a crash of the database, and so costs no WAL.
create unlogged table oauth1_nonces (
  nonce_hash bytea primary key,
  expires_at timestamptz not null
);
create index oauth1_nonces_expires_at on oauth1_nonces (expires_at);

-- Browsers that signed in, on the authorize pages or in the console.
create table sessions (
  token_hash bytea primary key,
  user_id text collate "C" not null references users (id) on delete cascade,
  purpose text not null check (purpose in ('authorize', 'console')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id);
create index sessions_expires_at on sessions (expires_at);

-- Wrong passwords in a window, by user name and address, by user name, and by address.
create table sign_in_attempts (
  key text collate "C" primary key,
  attempts int not null,
  window_ends_at timestamptz not null
);
create index sign_in_attempts_window_ends_at on sign_in_attempts (window_ends_at);

create table admin_tokens (
  token_hash bytea primary key,
  id text collate "C" not null constraint admin_tokens_id unique,
  name text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- One sealed word: a server that was started with another key finds out before it answers anyone.
create table secret_key_check (
  id boolean primary key default true check (id),
  sealed bytea not null
);
