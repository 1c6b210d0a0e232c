import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addBlock, keepOnly, newBlock, takeAway } from './blocks.ts'
import { decodePopulation, encodePopulation } from './codec.ts'
import { BLOCK, blocksFor, countBits, type PeopleSet, rangeSet, setOf, settled, sizeOf } from './people-set.ts'
import type { Population } from './population.ts'
import { chooser, sample, stream } from './random.ts'

const HELD = 2 * BLOCK + 1_000

/** Whoever is in a set, by asking every block. */
function membersOf(set: PeopleSet, held = HELD): number[] {
  const members: number[] = []
  for (let block = 0; block < blocksFor(held); block++) {
    const bits = newBlock()
    addBlock(bits, set, block)
    for (let i = 0; i < BLOCK; i++) if ((bits[i >>> 5]! >>> (i & 31)) & 1) members.push(block * BLOCK + i)
  }
  return members
}

const idsOf = (share: number, held = HELD) => {
  const ids: number[] = []
  sample(stream(`ids ${share}`), 0, held, share, (i) => ids.push(i))
  return Uint32Array.from(ids)
}

const FORMS: [what: string, ids: Uint32Array, form: PeopleSet['form']][] = [
  ['nobody', Uint32Array.of(), 'runs'],
  ['everybody', Uint32Array.from({ length: HELD }, (_, i) => i), 'runs'],
  ['neighbours over a block border', Uint32Array.from({ length: 100 }, (_, i) => BLOCK - 50 + i), 'runs'],
  ['a few', idsOf(0.0002), 'runs'],
  ['one in a hundred', idsOf(0.01), 'sparse'],
  ['half', idsOf(0.5), 'dense'],
  ['the first and the last', Uint32Array.of(0, HELD - 1), 'runs']
]
for (const [what, ids, form] of FORMS) {
  test(`keeps ${what} as ${form}, and loses no one`, () => {
    const set = setOf(ids, HELD)

    assert.equal(set.form, form)
    assert.deepEqual(membersOf(set), [...ids])
    assert.equal(sizeOf(set), ids.length)
  })
}

test('unites, intersects and subtracts as sets do, whatever their forms', () => {
  const numbers = fc.uniqueArray(fc.nat(BLOCK - 1), { maxLength: 300 })
  const run = fc
    .tuple(fc.nat(BLOCK - 1), fc.nat(2_000))
    .map(([from, length]) => Array.from({ length: Math.min(length, BLOCK - from) }, (_, i) => from + i))
  const people = fc.oneof(numbers, run).map((ids) => ids.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(people, people, people, (a, b, c) => {
      const [x, y, z] = [a, b, c].map((ids) => setOf(Uint32Array.from(ids), BLOCK))
      const bits = newBlock()
      const other = newBlock()
      addBlock(bits, x!, 0)
      addBlock(bits, y!, 0)
      addBlock(other, z!, 0)
      const kept = bits.slice()

      const anyone = keepOnly(kept, other)
      takeAway(bits, other)

      const union = new Set([...a, ...b])
      assert.equal(countBits(kept), union.intersection(new Set(c)).size)
      assert.equal(anyone, countBits(kept) > 0)
      assert.equal(countBits(bits), union.difference(new Set(c)).size)
    }),
    { numRuns: 200 }
  )
})

test('many sparse numbers in any order become bits', () => {
  const low = Uint16Array.from({ length: 5_000 }, (_, i) => (i * 7_919) % 65_536)
  const set = settled({ form: 'sparse', starts: Uint32Array.of(0, 5_000), low }, BLOCK)

  assert.equal(set.form, 'dense')
  assert.equal(sizeOf(set), new Set(low).size)
})

test('a population read back from its bytes is the same', () => {
  const sets = new Map(FORMS.map(([what, ids]) => [`INTEREST ${what}`, setOf(ids, HELD)]))
  const population: Population = { people: 5 * HELD, held: HELD, sets, homes: [[0, 7]], fingerprint: 'abc' }

  const bytes = encodePopulation(population)
  const again = decodePopulation(bytes)
  const shifted = decodePopulation(Buffer.concat([Buffer.from('x'), bytes]).subarray(1))

  assert.deepEqual(again, population)
  assert.deepEqual(shifted, population)
})

test('bytes that are no population are refused', () => {
  for (const bytes of ['', 'short', 'something else entirely, and long']) {
    assert.throws(() => decodePopulation(Buffer.from(bytes)), /not a population file/)
  }
  const cut = encodePopulation({
    people: 9,
    held: 9,
    sets: new Map([['A b', rangeSet(0, 9)]]),
    homes: [],
    fingerprint: ''
  })
  assert.throws(() => decodePopulation(cut.slice(0, cut.length - 4)))
})

test('samples the share asked for, in order, and the same every time', () => {
  const ids = idsOf(0.1, 100_000)

  assert.ok(Math.abs(ids.length - 10_000) < 400, String(ids.length))
  assert.deepEqual(ids, idsOf(0.1, 100_000))
  assert.ok(ids.every((id, i) => i === 0 || id > ids[i - 1]!))
})

test('chooses by weight', () => {
  const choose = chooser([1, 0, 3])
  const next = stream('weights')
  const counts = [0, 0, 0]
  for (let i = 0; i < 4_000; i++) counts[choose(next())]!++

  assert.equal(counts[1], 0)
  assert.ok(Math.abs(counts[0]! - 1_000) < 150, String(counts))
})
