-- Two spellings of one URL are one registration; the address shown is the one that was given.
alter table webhooks add column url_key text not null;
alter table webhooks drop constraint webhooks_app_url;
alter table webhooks add constraint webhooks_app_url unique (app_id, url_key);
