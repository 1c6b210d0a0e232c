import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readReference } from '../reference/load.ts'
import { importPopulation, PopulationFileError } from './import.ts'
import { sizeOf } from './people-set.ts'
import { createAudience, openPopulation } from './store.ts'

const generate = { held: 2 ** 14 }
const INTEREST = [{ targeting_type: 'INTEREST', targeting_value: '1001' }]

async function directory(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'herald-audience-'))
  t.after(() => rm(dir, { recursive: true }))
  return dir
}

async function peopleFile(t: TestContext, lines: unknown[]) {
  const path = join(await directory(t), 'people.ndjson')
  await writeFile(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  return path
}

test('generates the default population once, and reads it from its file afterwards', async (t) => {
  const dir = join(await directory(t), 'audience')
  const first = await openPopulation({ dir, read: readReference, generate })
  const files = await readdir(dir)
  const second = await openPopulation({
    dir,
    read: (() => {
      let asked = 0
      // Once for the fingerprint; a second time would mean to generate again.
      return ((kind: 'interests') => {
        assert.ok(kind !== 'interests' || asked++ === 0, 'generated again')
        return readReference(kind)
      }) as typeof readReference
    })(),
    generate
  })

  assert.deepEqual(files, [`population-${first.fingerprint}.bin`])
  assert.deepEqual(second, first)
})

test('a population of other reference rows takes the place of the old one', async (t) => {
  const dir = await directory(t)
  await openPopulation({ dir, read: readReference, generate })

  const { fingerprint } = await openPopulation({ dir, read: readReference, generate: { ...generate, seed: 'other' } })

  assert.deepEqual(await readdir(dir), [`population-${fingerprint}.bin`])
})

test('a damaged file is made anew', async (t) => {
  const dir = await directory(t)
  const first = await openPopulation({ dir, read: readReference, generate })
  await writeFile(join(dir, `population-${first.fingerprint}.bin`), 'damaged')
  const warnings: unknown[] = []

  const second = await openPopulation({
    dir,
    read: readReference,
    generate,
    onWarning: (error) => warnings.push(error)
  })

  assert.deepEqual(second, first)
  assert.equal(warnings.length, 1)
})

test('estimates although the directory cannot be written', async (t) => {
  const file = await peopleFile(t, ['{}'])
  const warnings: unknown[] = []
  const audience = createAudience({
    dir: join(file, 'no'),
    read: readReference,
    generate,
    onWarning: (e) => warnings.push(e)
  })

  const { count } = await audience.estimate(INTEREST)

  assert.ok(count > 1_000)
  assert.equal(warnings.length, 1)
})

test('an imported population replaces the default one, until it is forgotten', async (t) => {
  const dir = await directory(t)
  const audience = createAudience({ dir, read: readReference, generate })
  const path = await peopleFile(t, [{ INTEREST: ['1001'], AGE: [34] }, { INTEREST: ['1001', '1002'] }, { AGE: [12] }])

  await audience.importFile(path)
  const imported = await audience.estimate(INTEREST)
  const elsewhere = await createAudience({ dir, read: readReference, generate }).estimate(INTEREST)
  await audience.forgetImported()
  const before = await audience.estimate(INTEREST)

  assert.deepEqual(imported, { count: 2, min: 1, max: 3 })
  assert.deepEqual(elsewhere, imported)
  assert.ok(before.count > 1_000)
})

test('an age in years stands for all its buckets, and a value given twice counts once', async (t) => {
  const { sets } = await importPopulation(await peopleFile(t, [{ AGE: [34, '34', 'AGE_OVER_13'] }, '', { AGE: [60] }]))

  assert.equal(sizeOf(sets.get('AGE AGE_25_TO_49')!), 1)
  assert.equal(sizeOf(sets.get('AGE AGE_OVER_13')!), 2)
  assert.equal(sets.has('AGE AGE_13_TO_24'), false)
})

test('a larger population is held as a sample that stands for everyone', async (t) => {
  const lines = Array.from({ length: 4_000 }, (_, i) => ({ GENDER: [i < 1_000 ? '1' : '2'] }))
  const path = await peopleFile(t, lines)

  const population = await importPopulation(path, { heldMax: 1_000 })

  const men = sizeOf(population.sets.get('GENDER 1')!)
  assert.deepEqual([population.people, population.held], [4_000, 1_000])
  assert.equal(men + sizeOf(population.sets.get('GENDER 2')!), 1_000)
  assert.ok(Math.abs(men - 250) < 60, String(men))
})

const BAD: [what: string, lines: unknown[], message: RegExp][] = [
  ['no people', [''], /line 1: the file has no people/],
  ['a line that is not JSON', [{ GENDER: ['1'] }, '{'], /line 2: not JSON/],
  ['a person who is a list', [[]], /line 1: expected an object/],
  ['an unknown type', ['', { MOOD: ['good'] }], /line 2: "MOOD" is not a targeting type/],
  ['a value outside a list', [{ GENDER: '1' }], /line 1: expected a list of values for GENDER/],
  ['a value that is none', [{ GENDER: [null] }], /line 1: expected texts or numbers for GENDER/]
]
for (const [what, lines, message] of BAD) {
  test(`an import with ${what} is refused with its line`, async (t) => {
    const refused = importPopulation(await peopleFile(t, lines))

    await assert.rejects(refused, (error) => error instanceof PopulationFileError && message.test(error.message))
  })
}
