/** Opaque paging tokens of /2: 16 base32hex characters over a direction, a 64-bit position and a check byte. */

const ALPHABET = '0123456789abcdefghijklmnopqrstuv'

export interface Position {
  direction: 'next' | 'previous'
  /** The id next to which the page starts; it is not part of the page. */
  id: bigint
}

/** `scope` (the list's name) enters the check, so that a token of one list is garbage to another. */
const check = (bytes: Buffer, scope: string) => {
  let sum = 0x5a
  for (const byte of [...bytes.subarray(0, 9), ...Buffer.from(scope)]) sum = (sum * 33 + byte) & 0xff
  return sum
}

export function encodeToken({ direction, id }: Position, scope: string): string {
  const bytes = Buffer.alloc(10)
  bytes[0] = direction === 'next' ? 0x71 : 0x92
  bytes.writeBigUInt64BE(id, 1)
  bytes[9] = check(bytes, scope)
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  let token = ''
  for (let i = 0; i < 16; i++) {
    token = ALPHABET[Number(bits & 31n)] + token
    bits >>= 5n
  }
  return token
}

/** undefined when the token is not one of ours. */
export function decodeToken(token: string, scope: string): Position | undefined {
  if (!/^[0-9a-v]{16}$/.test(token)) return undefined
  let bits = 0n
  for (const character of token) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(character))
  const bytes = Buffer.alloc(10)
  for (let i = 9; i >= 0; i--) {
    bytes[i] = Number(bits & 255n)
    bits >>= 8n
  }
  if (bytes[9] !== check(bytes, scope) || (bytes[0] !== 0x71 && bytes[0] !== 0x92)) return undefined
  return { direction: bytes[0] === 0x71 ? 'next' : 'previous', id: bytes.readBigUInt64BE(1) }
}
