/**
 * A population of one's own: one person per line, `{"LOCATION": ["96683cc9126741d1"], "AGE": [34], "INTEREST": ["1001"]}`.
 * A person is listed with every value that applies (a city and its country); an age in years stands for all its buckets.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { AGE_BUCKETS, ageRange, targetingRule } from '../rules/targeting.ts'
import { IdList } from './people-set.ts'
import { HELD_MAX, type Population, setKey } from './population.ts'
import { stream } from './random.ts'

/** What is wrong with a line of the file. */
export class PopulationFileError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.name = 'PopulationFileError'
    this.line = line
  }
}

export interface ImportOptions {
  /** Larger populations are held as a random sample of this many people. */
  heldMax?: number
}

/** Reads the file twice: once to count, once to take everyone or a sample in which each person is equally likely. */
export async function importPopulation(path: string, { heldMax = HELD_MAX }: ImportOptions = {}): Promise<Population> {
  let people = 0
  for await (const _ of peopleOf(path)) people++
  if (people === 0) throw new PopulationFileError(1, 'the file has no people')
  const held = Math.min(people, heldMax)

  const lists = new Map<string, IdList>()
  const hash = createHash('sha256')
  const next = stream(`import ${people}`)
  let seen = 0
  let taken = 0
  for await (const { line, text } of peopleOf(path)) {
    hash.update(text)
    const wanted = (people - seen++) * next() < held - taken
    // Lines outside the sample are checked too: a file is accepted or refused as a whole.
    const values = valuesOf(text, line)
    if (!wanted) continue
    for (const key of values) {
      const list = lists.get(key) ?? new IdList()
      lists.set(key, list)
      if (list.last() !== taken) list.push(taken)
    }
    taken++
  }
  const sets = new Map([...lists].map(([key, list]) => [key, list.toSet(held)]))
  return { people, held, sets, homes: [], fingerprint: `imported-${hash.digest('hex').slice(0, 16)}` }
}

async function* peopleOf(path: string) {
  let line = 0
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    if (text.trim() !== '') yield { line, text }
  }
}

function valuesOf(text: string, line: number): string[] {
  const person = parse(text, line)
  const keys: string[] = []
  for (const [type, values] of Object.entries(person)) {
    if (!targetingRule(type)) throw new PopulationFileError(line, `"${type.slice(0, 100)}" is not a targeting type`)
    if (!Array.isArray(values)) throw new PopulationFileError(line, `expected a list of values for ${type}`)
    for (const value of values) {
      if (typeof value !== 'string' && typeof value !== 'number') {
        throw new PopulationFileError(line, `expected texts or numbers for ${type}`)
      }
      if (type === 'AGE' && /^\d+$/.test(String(value))) keys.push(...bucketsOf(Number(value)))
      else keys.push(setKey(type, String(value)))
    }
  }
  return keys
}

const bucketsOf = (age: number) =>
  AGE_BUCKETS.filter((bucket) => {
    const [from, to] = ageRange(bucket)
    return age >= from && age <= to
  }).map((bucket) => setKey('AGE', bucket))

function parse(text: string, line: number): object {
  let person: unknown
  try {
    person = JSON.parse(text)
  } catch {
    throw new PopulationFileError(line, 'not JSON')
  }
  if (typeof person !== 'object' || person === null || Array.isArray(person)) {
    throw new PopulationFileError(line, 'expected an object of targeting types')
  }
  return person
}
