import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../../test/database.ts'
import { hashPassword, passwordMatches } from './passwords.ts'
import { createVault, newToken, parseSecretKey, sameSecret, secretKeyFromFile } from './secrets.ts'
import { checkSecretKey } from './vault-check.ts'

const key = randomBytes(32)

test('opens what it sealed, for the same purpose only', () => {
  const vault = createVault(key)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (secret, purpose, other) => {
      const sealed = vault.encrypt(secret, purpose)
      assert.equal(vault.decrypt(sealed, purpose), secret)
      if (other !== purpose) assert.throws(() => vault.decrypt(sealed, other))
    }),
    { numRuns: 50 }
  )
})

test('seals the same secret differently each time, and shows none of it', () => {
  const vault = createVault(key)
  const [one, two] = [vault.encrypt('open sesame', 'p'), vault.encrypt('open sesame', 'p')]

  assert.notDeepEqual(one, two)
  assert.equal(one.includes('sesame'), false)
})

test('refuses sealed bytes that were changed anywhere, and an unknown form', () => {
  const vault = createVault(key)
  const sealed = vault.encrypt('secret', 'p')
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed)
    changed[index] = changed[index]! ^ 1
    assert.throws(() => vault.decrypt(changed, 'p'), `byte ${index}`)
  }
  assert.throws(() => vault.decrypt(sealed.subarray(0, 20), 'p'), /form that this version/)
  assert.throws(() => createVault(randomBytes(16)), /32 bytes/)
})

test('still opens with an older key, and says so when a key is missing', () => {
  const sealed = createVault(key).encrypt('secret', 'p')
  const newer = randomBytes(32)

  assert.equal(createVault(newer, [key]).decrypt(sealed, 'p'), 'secret')
  assert.throws(() => createVault(newer).decrypt(sealed, 'p'), /another key/)
})

test('reads a key as hex or base64 and refuses anything else', () => {
  assert.deepEqual(parseSecretKey(key.toString('hex')), key)
  assert.deepEqual(parseSecretKey(` ${key.toString('base64')}\n`), key)
  for (const bad of ['', 'short', key.toString('hex').slice(2)])
    assert.throws(() => parseSecretKey(bad), /32 random bytes/)
})

test('keeps its key in a file that only its owner can read', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'herald-key-'))
  t.after(() => rm(directory, { recursive: true }))
  const file = path.join(directory, 'new', 'secret.key')

  const keys = await Promise.all(Array.from({ length: 8 }, () => secretKeyFromFile(file)))
  const again = await secretKeyFromFile(file)

  for (const each of keys) assert.deepEqual(each, again)
  assert.deepEqual(await readdir(path.dirname(file)), ['secret.key'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await writeFile(file, 'nonsense')
  await assert.rejects(secretKeyFromFile(file), /secret\.key: a secret key is 32 random bytes/)
})

test('stops a server that was started with another key', async (t) => {
  const { database } = await testDatabase(t)
  await checkSecretKey(database.db, createVault(key))
  await checkSecretKey(database.db, createVault(key))

  await assert.rejects(checkSecretKey(database.db, createVault(randomBytes(32))), /HERALD_SECRET_KEY/)
})

test('makes tokens that need no escaping and never repeat', () => {
  const tokens = new Set(Array.from({ length: 100 }, () => newToken('oauth2Access')))

  assert.equal(tokens.size, 100)
  for (const token of tokens) assert.match(token, /^hat_[A-Za-z0-9_-]{43}$/)
  assert.match(newToken('app'), /^AAAA[A-Za-z0-9_-]{43}$/)
  assert.equal(sameSecret('a', 'a'), true)
  assert.equal(sameSecret('a', 'ab'), false)
})

test('knows a password again, in every Unicode spelling, and no other', async () => {
  const stored = await hashPassword('Caf\u00e9 au lait', { logN: 10, r: 8, p: 1 })

  assert.equal(await passwordMatches('Cafe\u0301 au lait', stored), true)
  assert.equal(await passwordMatches('Cafe au lait', stored), false)
  assert.equal(await passwordMatches('', null), false)
  assert.equal(await passwordMatches('', undefined), false)
})
