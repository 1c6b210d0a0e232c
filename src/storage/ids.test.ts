import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { idAtSql, idTime, newAdsId, newId, newIdNumber, reserveIds, setNodeNumber } from './ids.ts'

test('ids never repeat and their text order is the order in which they were made', () => {
  // More than 4,096 fit in a millisecond of this loop, so the sequence overflows as well.
  const ids = Array.from({ length: 50_000 }, newIdNumber)

  for (const text of [(id: bigint) => id.toString(), (id: bigint) => id.toString(36)]) {
    const texts = ids.map(text)
    assert.deepEqual(texts.toSorted(), texts)
    assert.equal(new Set(texts).size, ids.length)
  }
})

test('ids have one length and say when they were made', () => {
  const before = Date.now()

  const [id, adsId] = [newId(), newAdsId()]

  assert.match(id, /^\d{19}$/)
  assert.match(adsId, /^[0-9a-z]{13}$/)
  // A burst before may have borrowed a few milliseconds.
  assert.ok(Math.abs(idTime(BigInt(id)) - before) < 1_000)
})

test('nodes with different numbers never mint the same id', () => {
  const nodeOf = (id: bigint) => Number((id >> 12n) & 1023n)

  setNodeNumber(7)
  assert.equal(nodeOf(newIdNumber()), 7)
  setNodeNumber(1025)
  assert.equal(nodeOf(newIdNumber()), 1)
})

test('a range of ids lies between those minted before and after it, in the database as well', async (t) => {
  const { database } = await testDatabase(t)
  const count = 10_000
  const before = newId()

  const range = reserveIds(count)

  const next = newId()
  const { rows } = await database.pool.query<{ id: string }>(
    `select ${idAtSql(range, 'n')} as id from generate_series(0::bigint, ${count - 1}) n order by n`
  )
  const ids = [before, ...rows.map(({ id }) => id), next]
  assert.deepEqual(ids.toSorted(), ids)
  assert.equal(new Set(ids).size, count + 2)
})
