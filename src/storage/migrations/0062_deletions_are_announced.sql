-- Nodes hear of every deleted rule and webhook, also of those that go with their app.

create function announce_deleted_rules() returns trigger language plpgsql as $$
begin
  insert into filtered_rule_changes (app_id, rule_id) select app_id, id from gone;
  if found then perform pg_notify('herald_rules', ''); end if;
  return null;
end $$;
create trigger filtered_rules_deleted after delete on filtered_rules
  referencing old table as gone for each statement execute function announce_deleted_rules();

create function announce_deleted_webhook() returns trigger language plpgsql as $$
begin
  perform pg_notify('herald_deliveries', 'changed ' || old.app_id || '/' || old.id);
  return null;
end $$;
create trigger webhooks_deleted after delete on webhooks for each row execute function announce_deleted_webhook();
