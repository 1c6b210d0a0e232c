-- A session of the console belongs to a user, or to whoever knows an admin token; then it ends with that token.
alter table sessions alter column user_id drop not null;
alter table sessions add column admin_token_hash bytea;
alter table sessions add constraint sessions_whose check ((user_id is null) <> (admin_token_hash is null));
create index sessions_admin_token on sessions (admin_token_hash) where admin_token_hash is not null;
