-- Product sets: parts of a catalog, picked by hand or by filters.

create table product_sets (
  catalog_id text collate "C" not null references product_catalogs (id) on delete cascade,
  id text collate "C" not null check (id ~ '^[0-9]{1,19}$'),
  name text not null check (name <> ''),
  description text,
  type text collate "C" not null check (type in ('MANUAL', 'FILTERED')),
  -- [{attribute, operator, value}, …] as they are answered.
  filters jsonb not null default '[]',
  processing_status text collate "C" not null check (processing_status in ('DONE', 'PROCESSING', 'FAILED')),
  -- How far the background has come: products up to this key have been looked at.
  processed_key text collate "C",
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (catalog_id, id),
  check ((type = 'FILTERED') = (jsonb_array_length(filters) > 0)),
  check (type = 'FILTERED' or processing_status = 'DONE')
);

-- Which products are in which set, kept true by every write of products (decisions/0046).
create table product_set_members (
  catalog_id text collate "C" not null,
  set_id text collate "C" not null,
  product_key text collate "C" not null,
  primary key (catalog_id, set_id, product_key)
);
