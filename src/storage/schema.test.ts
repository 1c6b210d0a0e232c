import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { emptyDatabase, testDatabase } from '../../test/database.ts'
import { dumpSchema } from './schema.ts'

test('schema.sql shows what the migrations add up to', async (t) => {
  const { database } = await testDatabase(t)
  const committed = await readFile(path.join(import.meta.dirname, 'schema.sql'), 'utf8')

  const dumped = await dumpSchema(database.db)

  assert.equal(dumped, committed, 'run "node scripts/schema.ts --write" and commit src/storage/schema.sql')
})

test('shows every part of a schema', async (t) => {
  const { database } = await emptyDatabase(t)
  await database.pool.query(`
    create type mood as enum ('sad', 'glad');
    create sequence numbers maxvalue 9 cycle;
    create function twice(n int) returns int language sql immutable return n * 2;
    create table parent (id text collate "C" primary key, n int generated always as identity);
    create unlogged table child (
      parent_id text not null references parent, feeling mood default 'sad',
      price numeric(12, 2) check (price > 0), double numeric generated always as (price * 2) stored,
      unique (parent_id, price)
    ) with (fillfactor = 70);
    create index child_glad on child (feeling) where feeling = 'glad';
    create table log (at timestamptz not null, text text) partition by range (at);
    create table log_2026 partition of log for values from ('2026-01-01') to ('2027-01-01');
    create view glad as select parent_id from child where feeling = 'glad';`)

  const text = await dumpSchema(database.db)

  for (const part of [
    "create type mood as enum ('sad', 'glad');",
    'create sequence numbers as bigint minvalue 1 maxvalue 9 start 1 increment 1 cycle;',
    'FUNCTION twice(n integer)',
    'id text collate "C" not null',
    'n integer generated always as identity not null',
    'constraint parent_pkey PRIMARY KEY (id)',
    'create unlogged table child (',
    "feeling mood default 'sad'::mood",
    'constraint child_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES parent(id)',
    'constraint child_price_check CHECK ((price > (0)::numeric))',
    'double numeric generated always as ((price * (2)::numeric)) stored',
    ') with (fillfactor=70);',
    "CREATE INDEX child_glad ON child USING btree (feeling) WHERE (feeling = 'glad'::mood);",
    ') partition by RANGE (at);',
    'create view glad as'
  ]) {
    assert.ok(text.includes(part), `missing: ${part}\n${text}`)
  }
  assert.ok(!text.includes('log_2026'))
})

test('does not depend on the order in which things were made', async (t) => {
  const [one, other] = [await emptyDatabase(t), await emptyDatabase(t)]
  await sql
    .raw('create table a (n int); create table b (n int); create index y on a (n); create index x on a (n)')
    .execute(one.database.db)
  await sql
    .raw('create table b (n int); create table a (n int); create index x on a (n); create index y on a (n)')
    .execute(other.database.db)

  assert.equal(await dumpSchema(one.database.db), await dumpSchema(other.database.db))
})
