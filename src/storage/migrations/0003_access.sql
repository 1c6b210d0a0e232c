-- Which user may do what in which ad account, and who is on which allow-list.

create table account_access (
  account_id text collate "C" not null,
  user_id text collate "C" not null references users (id) on delete cascade,
  permissions text[] not null check (cardinality(permissions) > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (account_id, user_id),
  -- "It is available only to ACCOUNT_ADMIN, AD_MANAGER or CREATIVE_MANAGER."
  constraint account_access_composer check (
    not 'TWEET_COMPOSER' = any (permissions)
    or permissions && array['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER']
  )
);
-- The accounts of a user.
create index account_access_user on account_access (user_id, account_id);

create table allow_lists (
  list text collate "C" not null check (list <> ''),
  subject_kind text collate "C" not null check (subject_kind in ('app', 'user', 'account')),
  subject_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (list, subject_kind, subject_id)
);
-- The lists of a subject, when a token is looked up.
create index allow_lists_subject on allow_lists (subject_kind, subject_id);
