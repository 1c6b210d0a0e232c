-- Public numbers for line items per account differ; the highest is the default (docs/decisions/0052).
alter table ad_accounts add active_line_items_max int not null default 8000 check (active_line_items_max >= 1);
