/** Secrets at rest: random tokens, their hashes, and a vault for what must be readable again. See decisions/0015. */
import { createCipheriv, createDecipheriv, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { access, chmod, link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import path from 'node:path'

/** Says what a token is to people and secret scanners; the database decides what it may do. */
export const TOKEN_PREFIXES = {
  app: 'AAAA',
  oauth2Access: 'hat_',
  oauth2Refresh: 'hrt_',
  oauth2Code: 'hac_',
  admin: 'had_'
} as const

/** Unguessable text that needs no escaping in a header, a form or a URL. */
export const randomText = (bytes = 32) => randomBytes(bytes).toString('base64url')

export const newToken = (kind: keyof typeof TOKEN_PREFIXES) => TOKEN_PREFIXES[kind] + randomText(32)

/** Tokens are stored by this. They are random and long, so a plain hash is enough. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer')
/** The same as text, for keys of maps. */
export const tokenKey = (token: string) => hash('sha256', token, 'base64url')

/** Compares secrets without telling how much of them was right. */
export const sameSecret = (a: string, b: string) => timingSafeEqual(hashToken(a), hashToken(b))

export interface Vault {
  /** `purpose` names the row and column; what was sealed for one cannot be opened as another. */
  encrypt(secret: string, purpose: string): Buffer
  decrypt(sealed: Buffer, purpose: string): string
}

const VERSION = 1
const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES
const keyId = (key: Buffer) => hash('sha256', key, 'buffer').subarray(0, KEY_ID_BYTES)

/**
 * AES-256-GCM. Sealed form: version (1 byte), key id (4), IV (12), tag (16), ciphertext.
 * Older keys only open; they are what remains after the key was changed.
 */
export function createVault(key: Buffer, olderKeys: readonly Buffer[] = []): Vault {
  for (const each of [key, ...olderKeys]) {
    if (each.length !== KEY_BYTES) throw new Error(`A secret key has ${KEY_BYTES} bytes; this one has ${each.length}`)
  }
  const ownId = keyId(key)
  const keys = new Map([key, ...olderKeys].map((each) => [keyId(each).toString('hex'), each]))

  return {
    encrypt(secret, purpose) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(purpose))
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), ownId, iv, cipher.getAuthTag(), ciphertext])
    },
    decrypt(sealed, purpose) {
      if (sealed[0] !== VERSION || sealed.length < HEADER_BYTES + IV_BYTES + TAG_BYTES) {
        throw new Error('A stored secret has a form that this version of Herald does not know')
      }
      const opener = keys.get(sealed.subarray(1, HEADER_BYTES).toString('hex'))
      if (!opener) throw new Error('A stored secret was encrypted with another key (HERALD_SECRET_KEY)')
      const iv = sealed.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES)
      const tag = sealed.subarray(HEADER_BYTES + IV_BYTES, HEADER_BYTES + IV_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', opener, iv, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(tag)
      const ciphertext = sealed.subarray(HEADER_BYTES + IV_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
    }
  }
}

/** 32 bytes as 64 hex digits or as base64. */
export function parseSecretKey(text: string): Buffer {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  if (key.length !== KEY_BYTES) {
    throw new Error('a secret key is 32 random bytes, written as 64 hex digits or as base64 (openssl rand -hex 32)')
  }
  return key
}

/** The key kept in a file of the data directory, made on first use; readable by its owner only. */
export async function secretKeyFromFile(file: string): Promise<Buffer> {
  await mkdir(path.dirname(file), { recursive: true })
  if (!(await exists(file))) await createKeyFile(file)
  await chmod(file, 0o600)
  try {
    return parseSecretKey(await readFile(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`)
  }
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false
  )

/** Appears under its name only when it is whole; of several starters at once, the first one's key stays. */
async function createKeyFile(file: string) {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
}
