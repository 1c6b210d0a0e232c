/**
 * Tokens to small numbers. Reads a text without making a string of every token in it: most are in no rule, and what a
 * post costs is mostly what its words cost.
 */
import { tokenize } from './tokens.ts'

const SIZE_MIN = 64
const HASH_START = 0x811c9dc5 | 0
const HASH_FACTOR = 0x01000193

export class TokenTable {
  private count = 0
  private mask = SIZE_MIN - 1
  /** Open addressing, linear probing; a number of 0 is a free place. */
  private hashes = new Int32Array(SIZE_MIN)
  private numbers = new Int32Array(SIZE_MIN)
  private tokens: (string | undefined)[] = new Array(SIZE_MIN).fill(undefined)

  get size() {
    return this.count
  }

  /** The token's number, 0 when it is not here. */
  get(token: string): number {
    return this.numbers[this.placeOf(token, hashOf(token))] as number
  }

  /** `number` must be positive. */
  set(token: string, number: number) {
    if ((this.count + 1) * 2 > this.mask + 1) this.resize((this.mask + 1) * 2)
    const hash = hashOf(token)
    const place = this.placeOf(token, hash)
    if (this.numbers[place] === 0) this.count++
    this.hashes[place] = hash
    this.numbers[place] = number
    this.tokens[place] = token
  }

  delete(token: string) {
    let hole = this.placeOf(token, hashOf(token))
    if (this.numbers[hole] === 0) return
    this.count--
    // Whoever was pushed past the hole by it moves up, so that searches may stop at a free place.
    for (let place = (hole + 1) & this.mask; this.numbers[place] !== 0; place = (place + 1) & this.mask) {
      const home = (this.hashes[place] as number) & this.mask
      if (((place - home) & this.mask) < ((place - hole) & this.mask)) continue
      this.hashes[hole] = this.hashes[place] as number
      this.numbers[hole] = this.numbers[place] as number
      this.tokens[hole] = this.tokens[place]
      hole = place
    }
    this.numbers[hole] = 0
    this.tokens[hole] = undefined
  }

  /** Calls `found` with the number of every token of the text that is here, as often as it occurs. */
  scan(text: string, found: (number: number) => void) {
    const { hashes, numbers, mask } = this
    let start = -1
    let hash = HASH_START
    for (let at = 0; at <= text.length; at++) {
      // NaN beyond the end, which is no letter either.
      let code = text.charCodeAt(at)
      if (code > 127) return this.scanTokens(text, found)
      if (code >= 65 && code <= 90) code += 32
      if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
        if (start < 0) start = at
        hash = Math.imul(hash ^ code, HASH_FACTOR)
      } else if (start >= 0) {
        hash = finish(hash)
        let place = hash & mask
        while (numbers[place] !== 0) {
          if (hashes[place] === hash && isSame(this.tokens[place] as string, text, start, at)) {
            found(numbers[place] as number)
            break
          }
          place = (place + 1) & mask
        }
        start = -1
        hash = HASH_START
      }
    }
  }

  /** Tokens that were found before a character beyond ASCII turned up are found again; finding twice does no harm. */
  private scanTokens(text: string, found: (number: number) => void) {
    for (const token of tokenize(text)) {
      const number = this.get(token)
      if (number !== 0) found(number)
    }
  }

  private placeOf(token: string, hash: number): number {
    let place = hash & this.mask
    while (this.numbers[place] !== 0 && (this.hashes[place] !== hash || this.tokens[place] !== token)) {
      place = (place + 1) & this.mask
    }
    return place
  }

  private resize(size: number) {
    const { numbers, tokens } = this
    this.count = 0
    this.mask = size - 1
    this.hashes = new Int32Array(size)
    this.numbers = new Int32Array(size)
    this.tokens = new Array(size).fill(undefined)
    for (let place = 0; place < numbers.length; place++) {
      if (numbers[place] !== 0) this.set(tokens[place] as string, numbers[place] as number)
    }
  }
}

/** The low bits choose the place, so the high ones must reach them. */
const finish = (hash: number) => hash ^ (hash >>> 15)

function hashOf(token: string): number {
  let hash = HASH_START
  for (let at = 0; at < token.length; at++) hash = Math.imul(hash ^ token.charCodeAt(at), HASH_FACTOR)
  return finish(hash)
}

function isSame(token: string, text: string, start: number, end: number): boolean {
  if (token.length !== end - start) return false
  for (let at = start; at < end; at++) {
    let code = text.charCodeAt(at)
    if (code >= 65 && code <= 90) code += 32
    if (token.charCodeAt(at - start) !== code) return false
  }
  return true
}
