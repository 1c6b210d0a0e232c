-- Where the money of campaigns comes from. Whether an instrument is able to fund is never stored.

create table funding_instruments (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  type text not null
    check (type in ('AGENCY_CREDIT_LINE', 'CREDIT_CARD', 'CREDIT_LINE', 'INSERTION_ORDER', 'PARTNER_MANAGED')),
  description text,
  entity_status text not null default 'ACTIVE' check (entity_status in ('ACTIVE', 'PAUSED')),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  start_time timestamptz not null,
  end_time timestamptz check (end_time > start_time),
  credit_limit_local_micro bigint check (credit_limit_local_micro >= 0),
  funded_amount_local_micro bigint check (funded_amount_local_micro >= 0),
  io_header text,
  -- Told by the operator; Herald itself spends nothing.
  spend_local_micro bigint not null default 0 check (spend_local_micro >= 0),
  credit_card_status text check (credit_card_status in ('APPROVAL_PENDING', 'REJECTED', 'DELETED')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id)
);
-- One index per attribute of sort_by.
create index funding_instruments_created_at on funding_instruments (account_id, created_at, id);
create index funding_instruments_updated_at on funding_instruments (account_id, updated_at, id);
create index funding_instruments_deleted on funding_instruments (account_id, deleted, id);
create index funding_instruments_funded on funding_instruments (account_id, funded_amount_local_micro, id);
create index funding_instruments_start_time on funding_instruments (account_id, start_time, id);
create index funding_instruments_end_time on funding_instruments (account_id, end_time, id);
