-- Checks of product images, done in the background.

-- Products whose images are to be looked at.
create table image_queue (
  catalog_id text collate "C" not null,
  product_key text collate "C" not null,
  due_at timestamptz not null,
  -- Looks in vain so far.
  tries int not null default 0,
  -- Grows when the product gets other images, so that a look at the old ones does not count for the new.
  version int not null default 0,
  primary key (catalog_id, product_key)
);
create index image_queue_due on image_queue (catalog_id, due_at, product_key);

-- What is wrong with images; those that are right have no row.
create table image_verdicts (
  catalog_id text collate "C" not null,
  product_key text collate "C" not null,
  field text collate "C" not null check (field in ('image_link', 'additional_image_link')),
  -- Which of the additional images, from 0.
  position int not null,
  url text not null,
  code text collate "C" not null,
  message text not null,
  checked_at timestamptz not null,
  primary key (catalog_id, product_key, field, position)
);

-- What was found at an address, so that it is not fetched again for every product that shows it. May be forgotten.
create unlogged table image_cache (
  url_hash uuid primary key,
  -- {code, rule}, or null when the image is right.
  problem jsonb,
  expires_at timestamptz not null
);
create index image_cache_expires_at on image_cache (expires_at);
