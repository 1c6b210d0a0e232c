/**
 * People sorted by what their tastes depend on. In a stratum everyone has the same chance, so that drawing from it costs as
 * much as it draws, however many people there are.
 */
import { NO_MOBILE, type People } from './generate.ts'
import { ACTIVITY } from './model.ts'
import { countBits, setOf, wordsFor } from './people-set.ts'
import { sample, stream } from './random.ts'

export interface Stratum {
  /** 0 unknown, 1 male, 2 female. */
  gender: number
  /** 0 under 25, 1 under 50, 2 older. */
  age: number
  platform: 'IOS' | 'ANDROID' | 'OTHER'
  /** How much they do, as a factor. */
  activity: number
  /** Ascending. */
  people: Uint32Array
}

const PLATFORMS = ['IOS', 'ANDROID', 'OTHER'] as const
const SHARE_MAX = 0.9

const platformOf = (mobile: number) => (mobile === NO_MOBILE || mobile > 1 ? 2 : mobile)
const ageOf = (age: number) => (age < 25 ? 0 : age < 50 ? 1 : 2)

export function stratify({ held, age, gender, mobile, activity }: People): Stratum[] {
  const index = (i: number) => ((activity[i]! * 3 + gender[i]!) * 3 + ageOf(age[i]!)) * 3 + platformOf(mobile[i]!)
  const sizes = new Uint32Array(ACTIVITY.length * 27)
  for (let i = 0; i < held; i++) sizes[index(i)]!++
  const strata = Array.from(sizes, (size, at) => ({
    gender: Math.floor(at / 9) % 3,
    age: Math.floor(at / 3) % 3,
    platform: PLATFORMS[at % 3]!,
    activity: ACTIVITY[Math.floor(at / 27)]![1],
    people: new Uint32Array(size)
  }))
  sizes.fill(0)
  for (let i = 0; i < held; i++) {
    const at = index(i)
    strata[at]!.people[sizes[at]!++] = i
  }
  return strata
}

/** Collects drawn people, in any order and however often drawn, into a set. */
export class Drawing {
  private readonly held: number
  private readonly bits: Uint32Array

  constructor(held: number) {
    this.held = held
    this.bits = new Uint32Array(wordsFor(held))
  }

  /** Draws from those of the strata who are in [from, to), each with its stratum's chance times its activity. */
  from(
    strata: readonly Stratum[],
    key: string,
    [from, to]: readonly [number, number],
    chance: (of: Stratum) => number
  ) {
    const next = stream(key)
    for (const stratum of strata) {
      const share = Math.min(SHARE_MAX, chance(stratum) * stratum.activity)
      if (share > 0) this.list(stratum.people, next, share, from, to)
    }
  }

  /** Draws a share of a list. */
  list(people: Uint32Array, next: () => number, share: number, from = 0, to = this.held) {
    const { bits } = this
    const first = from === 0 ? 0 : lowerBound(people, from)
    const end = to === this.held ? people.length : lowerBound(people, to)
    sample(next, first, end, share, (at) => {
      const person = people[at]!
      bits[person >>> 5]! |= 1 << (person & 31)
    })
  }

  /** What was drawn, ascending; the next drawing starts empty. */
  take(): Uint32Array {
    const { bits } = this
    const ids = new Uint32Array(countBits(bits))
    let at = 0
    for (let word = 0; word < bits.length; word++) {
      for (let rest = bits[word]! | 0; rest !== 0; rest &= rest - 1) {
        ids[at++] = word * 32 + 31 - Math.clz32(rest & -rest)
      }
    }
    bits.fill(0)
    return ids
  }

  takeSet() {
    return setOf(this.take(), this.held)
  }
}

function lowerBound(ascending: Uint32Array, value: number) {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
