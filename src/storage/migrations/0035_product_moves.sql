-- What the last write of a product did to its group, so that a merge of millions knows which groups to look at.
alter table products
  add column group_changed boolean not null default true,
  add column left_item_group_id text collate "C";
