-- Product catalogs and what is in them. Everything a catalog owns leads with the catalog in its key.

create table product_catalogs (
  id text collate "C" primary key check (id ~ '^[0-9]{1,19}$'),
  user_id text collate "C" not null references users (id) on delete cascade,
  -- The listener that shows it; the other one does not know it.
  environment text collate "C" not null check (environment in ('production', 'sandbox')),
  name text not null check (name <> ''),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- "One user can create only one catalog."
  constraint product_catalogs_one_per_user unique (user_id, environment)
);

-- Who may act on another user's catalog (decisions/0044).
create table catalog_delegates (
  owner_user_id text collate "C" not null references users (id) on delete cascade,
  user_id text collate "C" not null references users (id) on delete cascade,
  created_at timestamptz not null,
  primary key (owner_user_id, user_id),
  check (owner_user_id <> user_id)
);
-- Whose catalogs a user may act on.
create index catalog_delegates_user on catalog_delegates (user_id, owner_user_id);

-- Millions of rows per catalog. There is no foreign key to the catalog, because checking it would cost as much as the
-- insert itself: whoever writes holds the catalog's row, and a deleted catalog's products are purged in the background.
create table products (
  catalog_id text collate "C" not null,
  -- The merchant's id.
  id text collate "C" not null,
  product_key text collate "C" not null,
  title text not null,
  description text not null,
  availability text not null,
  condition text not null,
  price text not null,
  -- In smallest units; the sale price is in the same currency.
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
  inventory int,
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
  -- Of everything the merchant sent: equal hashes mean that nothing changed.
  content_hash uuid not null,
  -- Whether the last write brought other images than the product had; tells a merge what to check.
  images_changed boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (catalog_id, id)
) with (fillfactor = 90);
-- Reads by key, and members of sets.
create unique index products_key on products (catalog_id, product_key);
-- Lists show products without a group, and one product of each group (item_groups_first); members of a group in order.
create index products_ungrouped on products (catalog_id, product_key) where item_group_id is null;
create index products_grouped on products (catalog_id, item_group_id, product_key) where item_group_id is not null;

-- Products that share an item_group_id.
create table item_groups (
  catalog_id text collate "C" not null,
  item_group_id text collate "C" not null,
  -- Generated once a second product joins; kept from then on.
  item_group_key text collate "C",
  -- The member submitted first, which stands for the group in lists.
  first_product_key text collate "C" not null,
  primary key (catalog_id, item_group_id)
);
create unique index item_groups_key on item_groups (catalog_id, item_group_key) where item_group_key is not null;
create index item_groups_first on item_groups (catalog_id, first_product_key);
