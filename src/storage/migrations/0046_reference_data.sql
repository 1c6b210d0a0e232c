-- Reference data in force. The shipped files are loaded when a node starts; an operator may replace any kind.

create table reference_data (
  kind text collate "C" primary key,
  rows jsonb not null check (jsonb_typeof(rows) = 'array'),
  -- What the operator has replaced stays when the shipped files change.
  origin text not null check (origin in ('shipped', 'operator')),
  -- Of the shipped file, to notice a new one.
  digest text collate "C",
  updated_at timestamptz not null
);
