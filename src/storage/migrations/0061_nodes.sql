-- Which nodes run: each says every few seconds that it is there, by the database's clock.
create unlogged table nodes (
  id text collate "C" primary key,
  host text not null,
  pid int not null,
  roles text[] not null,
  version text not null,
  memory_bytes bigint not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);
