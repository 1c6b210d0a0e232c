-- Open streams and those that were open lately.

-- Nodes with open streams. The lease is by the database's own time: streams of a node that died end with it.
create table stream_nodes (
  id text collate "C" primary key,
  lease_until timestamptz not null
);

create table stream_connections (
  app_id text collate "C" not null references apps (id) on delete cascade,
  -- The order of pages; `id` is what clients see.
  position text collate "C" not null,
  id text collate "C" not null,
  node_id text collate "C" not null,
  endpoint_name text not null check (endpoint_name in ('filtered_stream', 'activity_stream')),
  -- A past range that is streamed once; counted apart from live connections.
  recovery boolean not null default false,
  client_ip text,
  connected_at timestamptz not null,
  disconnected_at timestamptz,
  disconnect_reason text,
  primary key (app_id, position),
  constraint stream_connections_id unique (app_id, id),
  check ((disconnected_at is null) = (disconnect_reason is null))
);
-- How many an app has open.
create index stream_connections_open on stream_connections (app_id, endpoint_name) where disconnected_at is null;
-- Those of one node: what it should have open, and what ends when it dies.
create index stream_connections_node on stream_connections (node_id) where disconnected_at is null;
-- Dropping old records.
create index stream_connections_ended on stream_connections (disconnected_at) where disconnected_at is not null;
