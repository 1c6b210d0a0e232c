import { createHash } from 'node:crypto'

/**
 * Ids of reference rows that nobody published. They follow from the row's kind and natural key alone, so that the same
 * row has the same id in every installation and a row can be added without moving the others.
 */
const digest = (kind: string, key: string) => createHash('sha256').update(`herald/${kind}/${key}`).digest('hex')

const number = (kind: string, key: string, below: bigint) => BigInt(`0x${digest(kind, key)}`) % below

/** Location values: 16 lower-case hex digits. */
export const hexId = (kind: string, key: string) => digest(kind, key).slice(0, 16)

/** Short ids: exactly `digits` base 36 digits, the first one not zero. */
export function base36Id(kind: string, key: string, digits: number) {
  const lowest = 36n ** BigInt(digits - 1)
  return (lowest + number(kind, key, lowest * 35n)).toString(36)
}

/** Ids of users, posts and topics: exactly `digits` decimal digits, the first one not zero. */
export function decimalId(kind: string, key: string, digits: number) {
  const lowest = 10n ** BigInt(digits - 1)
  return (lowest + number(kind, key, lowest * 9n)).toString()
}
