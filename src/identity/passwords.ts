/** Passwords: scrypt, with the cost written beside each hash so that it can be raised later. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** 32 MiB and about a quarter of a second: N = 2^15, r = 8, p = 3. */
const COST = { logN: 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32
export const PASSWORD_LENGTH_MIN = 8
export const PASSWORD_LENGTH_MAX = 1024

const derive = (password: string, salt: Buffer, bytes: number, options: ScryptOptions) =>
  new Promise<Buffer>((resolve, reject) => {
    // Unicode has several spellings of one password; NFKC is what people mean.
    scrypt(password.normalize('NFKC'), salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)))
  })

/** At most two at a time: scrypt takes memory and a thread of the pool that DNS and files need too. */
const RUNNING_MAX = 2
let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>) {
  if (running >= RUNNING_MAX) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

const options = ({ logN, r, p }: typeof COST): ScryptOptions => ({ N: 2 ** logN, r, p, maxmem: 256 * 2 ** logN * r })

export async function hashPassword(password: string, cost = COST) {
  const salt = randomBytes(SALT_BYTES)
  const key = await inTurn(() => derive(password, salt, HASH_BYTES, options(cost)))
  return ['scrypt', cost.logN, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Nobody's hash: checking a password against it takes as long as for a real user, and never succeeds. */
const NOBODY = `scrypt$${COST.logN}$${COST.r}$${COST.p}$${Buffer.alloc(SALT_BYTES).toString('base64url')}$`

/** Takes the same time whether the user exists, has a password, or not. */
export async function passwordMatches(password: string, stored: string | null | undefined) {
  const [, logN, r, p, salt, hash] = (stored ?? NOBODY).split('$')
  const expected = Buffer.from(hash ?? '', 'base64url')
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) }
  const given = await inTurn(() => derive(password, Buffer.from(salt ?? '', 'base64url'), HASH_BYTES, options(cost)))
  return expected.length === given.length && timingSafeEqual(expected, given)
}
