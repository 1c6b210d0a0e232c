-- Who changed what: written in the transaction of the change, never changed afterwards.

create table account_history (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  entity text collate "C" not null
    check (entity in ('CAMPAIGN', 'LINE_ITEM', 'PROMOTED_TWEET', 'TARGETING_CRITERIA', 'PROMOTED_ACCOUNT')),
  entity_id text collate "C" not null,
  change_time timestamptz not null,
  change_type text not null check (change_type in ('CREATE', 'UPDATE', 'DELETE')),
  user_id text collate "C" not null,
  -- The client application, and what the document calls it.
  app_id text collate "C",
  platform text not null,
  -- json, not jsonb: numbers and the order of keys stay as they were written.
  changes json not null,
  entity_data json not null,
  primary key (account_id, entity, entity_id, id)
);
