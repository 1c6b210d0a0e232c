/**
 * Tokens to small numbers. Reads a text without making a string of every token in it: most are in no rule, and what a
 * post costs is mostly what its words cost. Everything lies in a few arrays of numbers for the same reason.
 */
import { tokenize } from './tokens.ts'

const PLACES_MIN = 64
/** Of each place: hash of the token, its number (0: the place is free), where its characters are, how many. */
const WIDTH = 4
/** Bits in the sieve for every place. */
const SIEVE_BITS = 4
const HASH_START = 0x811c9dc5 | 0
const HASH_FACTOR = 0x01000193

export class TokenTable {
  private count = 0
  /** Open addressing, linear probing. */
  private mask = PLACES_MIN - 1
  private places = new Int32Array(PLACES_MIN * WIDTH)
  private characters = new Uint16Array(PLACES_MIN * 4)
  private charactersEnd = 0
  private charactersLive = 0
  /** A bit for every hash that was put in: most words of a post stop here. */
  private sieve = new Uint8Array((PLACES_MIN * SIEVE_BITS) / 8)

  get size() {
    return this.count
  }

  /** The token's number, 0 when it is not here. */
  get(token: string): number {
    return this.places[this.placeOf(token) + 1] as number
  }

  /** `number` must be positive. */
  set(token: string, number: number) {
    const known = this.placeOf(token)
    if (this.places[known + 1] !== 0) {
      this.places[known + 1] = number
      return
    }
    if ((this.count + 1) * 2 > this.mask + 1) this.rebuild((this.mask + 1) * 2)
    else if (this.charactersEnd > 1024 && this.charactersEnd > this.charactersLive * 4) this.rebuild(this.mask + 1)
    this.put(this.placeOf(token), hashOf(token), number, this.store(token), token.length)
  }

  delete(token: string) {
    const { places, mask } = this
    let hole = this.placeOf(token)
    if (places[hole + 1] === 0) return
    this.count--
    this.charactersLive -= token.length
    // Whoever was pushed past the hole by it moves up, so that searches may stop at a free place.
    for (let place = this.next(hole); places[place + 1] !== 0; place = this.next(place)) {
      const home = (places[place] as number) & mask
      if (((place / WIDTH - home) & mask) < (((place - hole) / WIDTH) & mask)) continue
      places.copyWithin(hole, place, place + WIDTH)
      hole = place
    }
    places[hole + 1] = 0
  }

  /**
   * Writes the number of every token of the text into `into`, from `at` on and in their order, 0 for those that are
   * not here; returns where it ended. There must be room for half the text's length.
   */
  scan(text: string, into: Int32Array, at: number): number {
    const { places, mask, sieve } = this
    const sieveMask = sieve.length * 8 - 1
    let end = at
    let start = -1
    let hash = HASH_START
    for (let index = 0; index <= text.length; index++) {
      // NaN beyond the end, which is no letter either.
      let code = text.charCodeAt(index)
      if (code > 127) return this.scanTokens(text, into, at)
      if (code >= 65 && code <= 90) code += 32
      if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
        if (start < 0) start = index
        hash = Math.imul(hash ^ code, HASH_FACTOR)
      } else if (start >= 0) {
        hash = finish(hash)
        const bit = hash & sieveMask
        let number = 0
        if (((sieve[bit >> 3] as number) & (1 << (bit & 7))) !== 0) {
          let place = (hash & mask) * WIDTH
          number = places[place + 1] as number
          while (number !== 0 && (places[place] !== hash || !this.isAt(place, text, start, index))) {
            place = (place + WIDTH) & (mask * WIDTH + WIDTH - 1)
            number = places[place + 1] as number
          }
        }
        into[end++] = number
        start = -1
        hash = HASH_START
      }
    }
    return end
  }

  /** Beyond ASCII reading is slower; the text is read again from its beginning. */
  private scanTokens(text: string, into: Int32Array, at: number): number {
    let end = at
    for (const token of tokenize(text)) into[end++] = this.get(token)
    return end
  }

  private next(place: number) {
    return (place + WIDTH) & (this.mask * WIDTH + WIDTH - 1)
  }

  private placeOf(token: string): number {
    const { places } = this
    const hash = hashOf(token)
    let place = (hash & this.mask) * WIDTH
    while (places[place + 1] !== 0 && (places[place] !== hash || !this.isAt(place, token, 0, token.length))) {
      place = this.next(place)
    }
    return place
  }

  /** Whether the token in a place is the text from start to end, capital letters of ASCII aside. */
  private isAt(place: number, text: string, start: number, end: number): boolean {
    if (this.places[place + 3] !== end - start) return false
    const { characters } = this
    let character = this.places[place + 2] as number
    for (let at = start; at < end; at++) {
      let code = text.charCodeAt(at)
      if (code >= 65 && code <= 90) code += 32
      if (characters[character++] !== code) return false
    }
    return true
  }

  private put(place: number, hash: number, number: number, where: number, length: number) {
    const { places, sieve } = this
    places[place] = hash
    places[place + 1] = number
    places[place + 2] = where
    places[place + 3] = length
    const bit = hash & (sieve.length * 8 - 1)
    sieve[bit >> 3] = (sieve[bit >> 3] as number) | (1 << (bit & 7))
    this.count++
  }

  private store(token: string): number {
    const where = this.charactersEnd
    this.charactersEnd += token.length
    this.charactersLive += token.length
    if (this.charactersEnd > this.characters.length) {
      const larger = new Uint16Array(Math.max(this.charactersEnd, this.characters.length * 2))
      larger.set(this.characters)
      this.characters = larger
    }
    for (let at = 0; at < token.length; at++) this.characters[where + at] = token.charCodeAt(at)
    return where
  }

  /** With `size` places, and without what was deleted. */
  private rebuild(size: number) {
    const { places, characters } = this
    this.count = 0
    this.mask = size - 1
    this.places = new Int32Array(size * WIDTH)
    this.sieve = new Uint8Array((size * SIEVE_BITS) / 8)
    this.characters = new Uint16Array(characters.length)
    this.charactersEnd = 0
    this.charactersLive = 0
    for (let place = 0; place < places.length; place += WIDTH) {
      const [hash, number, where, length] = places.subarray(place, place + WIDTH) as unknown as number[]
      if (!number) continue
      const token = String.fromCharCode(...characters.subarray(where, (where as number) + (length as number)))
      this.put(this.placeOf(token), hash as number, number, this.store(token), token.length)
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
