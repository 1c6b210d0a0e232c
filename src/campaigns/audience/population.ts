/** People and what they can be targeted by. Read-only once made. */
import type { PeopleSet } from './people-set.ts'

export interface Population {
  /** How many people it stands for. */
  people: number
  /** How many of them are held: all, or a random sample of which each stands for `people / held`. */
  held: number
  /** By `setKey`: who has a targeting value. */
  sets: ReadonlyMap<string, PeopleSet>
  /** Where people of one country sit together, so that values without a set can be at home somewhere. */
  homes: readonly (readonly [from: number, to: number])[]
  /** What it was made from; a different one is a different population. */
  fingerprint: string
}

/** As many as a bitmap of 128 KB has bits. */
export const HELD_MAX = 2 ** 20
export const DEFAULT_PEOPLE = 10_000_000

export const setKey = (type: string, value: string) => `${type} ${value}`
