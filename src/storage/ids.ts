/** Time-ordered 64-bit ids: 41 bits of milliseconds, 10 bits of node, 12 bits of sequence. See docs/decisions/0002-ids.md. */

/** With this epoch every id until 2059 has 19 decimal digits and 13 base36 digits, so text order is creation order. */
const EPOCH_MS = Date.UTC(1990, 0, 1)

let node = BigInt(Math.floor(Math.random() * 1024))
let lastMs = 0
let sequence = 0

/** Told once at start, from a sequence in the database, so that two nodes never mint the same id. */
export function setNodeNumber(number: number) {
  node = BigInt(((number % 1024) + 1024) % 1024)
}

export function newIdNumber(): bigint {
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    sequence = 0
  } else if (++sequence === 4096) {
    // More than 4,096 in a millisecond, or a clock that went back: borrow from the next one, never repeat.
    lastMs++
    sequence = 0
  }
  return (BigInt(lastMs - EPOCH_MS) << 22n) | (node << 12n) | BigInt(sequence)
}

/** Room for many ids at once, for rows that the database numbers itself: the n-th, from 0, is `idAtSql(range, n)`. */
export interface IdRange {
  firstMs: number
  node: number
}

const PER_MS = 4096

export function reserveIds(count: number): IdRange {
  const firstMs = Math.max(Date.now(), lastMs) + 1
  lastMs = firstMs + Math.floor(Math.max(count - 1, 0) / PER_MS)
  sequence = PER_MS - 1
  return { firstMs: firstMs - EPOCH_MS, node: Number(node) }
}

/** The same as SQL: an expression for the n-th id of the range as text, with n an expression that counts from 0. */
export const idAtSql = ({ firstMs, node: number }: IdRange, n: string) =>
  `((((${firstMs}::bigint + (${n}) / ${PER_MS}) << 22) | (${number}::bigint << 12) | ((${n}) % ${PER_MS}))::text)`

/** Ids of the v2 API, users, catalogs and everything inside: decimal. */
export const newId = () => newIdNumber().toString()
/** Ids of ad accounts and what they own: base 36. */
export const newAdsId = () => newIdNumber().toString(36)

/** Milliseconds at which an id was minted. */
export const idTime = (id: bigint) => Number(id >> 22n) + EPOCH_MS
