-- Stories that were published as `news.new`, found by their words; src/activity/news/news.ts forgets old ones.
create table news (
  id text collate "C" primary key,
  -- What clients see, as JSON text like the payloads of events: jsonb would refuse what a publisher may send.
  story text not null,
  words tsvector not null,
  updated_at timestamptz not null,
  -- When the event happened that told it; an older one does not replace it.
  occurred_at timestamptz not null
);
create index news_words on news using gin (words);
create index news_updated_at on news (updated_at desc, id desc);

-- Notes on posts. Those of test mode live beside the others and are never mixed with them.
create table notes (
  user_id text collate "C" not null references users (id) on delete cascade,
  id text collate "C" not null,
  test_mode boolean not null,
  post_id text collate "C" not null,
  text text not null,
  classification text not null,
  misleading_tags text[] not null,
  trustworthy_sources boolean not null,
  is_media_note boolean,
  -- Notes of test mode are nobody's to rate: they have a result instead.
  status text,
  test_result jsonb,
  created_at timestamptz not null,
  primary key (user_id, id),
  constraint notes_once unique (user_id, test_mode, post_id),
  check (test_mode = (status is null) and test_mode = (test_result is not null))
);
create index notes_written on notes (user_id, test_mode, id);
