-- Posts that were published, for as long as they are kept: what search, counts, edits and deletions look at.
-- docs/decisions/0082 has the reasons.

create table posts (
  id text collate "C" primary key,
  author_id text collate "C" not null,
  -- When the post was made, never later than when it was published.
  created_at timestamptz not null,
  -- Its author protected their posts then.
  protected boolean not null,
  -- The newest version, if this is not it.
  replaced_by text collate "C",
  -- Hashes of what a query may ask for (src/activity/posts/terms.ts).
  terms int[] not null,
  -- JSON as it was published; as text, numbers keep all their digits.
  payload text not null,
  includes text
);
-- The order of every search, and of the end of their time.
create index posts_created_at on posts (created_at, id);
create index posts_replaced_by on posts (replaced_by) where replaced_by is not null;
create index posts_terms on posts using gin (terms);
