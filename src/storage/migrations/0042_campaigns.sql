-- Campaigns. What makes one servable is derived when it is read, from this row, its line items and the clock.

create table campaigns (
  account_id text collate "C" not null references ad_accounts (id),
  id text collate "C" not null,
  name text collate "C" not null check (name <> ''),
  -- The name as `q` compares it.
  name_folded text collate "C" not null,
  funding_instrument_id text collate "C" not null,
  budget_optimization text not null check (budget_optimization in ('CAMPAIGN', 'LINE_ITEM')),
  daily_budget_amount_local_micro bigint check (daily_budget_amount_local_micro > 0),
  total_budget_amount_local_micro bigint check (total_budget_amount_local_micro > 0),
  entity_status text not null check (entity_status in ('ACTIVE', 'DRAFT', 'PAUSED')),
  purchase_order_number text,
  -- Null when the line items have the budgets.
  standard_delivery boolean,
  -- Leftovers of an older shape that lists can still be sorted by; always null.
  start_time timestamptz,
  end_time timestamptz,
  currency text collate "C" not null,
  spend_local_micro bigint not null default 0 check (spend_local_micro >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted boolean not null default false,
  primary key (account_id, id),
  foreign key (account_id, funding_instrument_id) references funding_instruments (account_id, id)
);
create index campaigns_funding_instrument on campaigns (account_id, funding_instrument_id, id);
-- `q`: a range of folded names.
create index campaigns_name_folded on campaigns (account_id, name_folded, id);
-- One index per attribute of sort_by, so that a page costs the same wherever it is.
create index campaigns_created_at on campaigns (account_id, created_at, id);
create index campaigns_updated_at on campaigns (account_id, updated_at, id);
create index campaigns_deleted on campaigns (account_id, deleted, id);
create index campaigns_name on campaigns (account_id, name, id);
create index campaigns_daily_budget on campaigns (account_id, daily_budget_amount_local_micro, id);
create index campaigns_total_budget on campaigns (account_id, total_budget_amount_local_micro, id);
create index campaigns_standard_delivery on campaigns (account_id, standard_delivery, id);
create index campaigns_start_time on campaigns (account_id, start_time, id) where start_time is not null;
create index campaigns_end_time on campaigns (account_id, end_time, id) where end_time is not null;
-- Counting the active ones of an account against its limit.
create index campaigns_active on campaigns (account_id, id) where not deleted and entity_status <> 'DRAFT';
