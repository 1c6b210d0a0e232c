import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { createListener } from '../storage/listen.ts'
import { createAdminToken, revokeAdminToken } from './admin-tokens.ts'
import { allow } from './allow-lists.ts'
import { appBearerToken, invalidateAppToken } from './app-tokens.ts'
import { createApp, rotateConsumerSecret, updateApp } from './apps.ts'
import { type AuthenticatorOptions, type Credentials, createAuthenticator } from './authenticate.ts'
import { signRequest } from './oauth1.ts'
import { createOAuth1AccessToken, revokeOAuth1Token } from './oauth1-tokens.ts'
import { createOAuth2UserToken, revokeOAuth2Token } from './oauth2-tokens.ts'
import type { OAuth1Principal, OAuth2Principal } from './principal.ts'
import { createVault, hashToken } from './secrets.ts'
import { createUser, updateUser } from './users.ts'

const { database } = await testDatabase({ after })
const { db } = database
const vault = createVault(randomBytes(32))
const clock = { ms: Date.parse('2026-01-15T12:00:00Z'), now: () => clock.ms }
const now = () => new Date(clock.ms)
const ann = await createUser(db, { username: 'ann' }, now())
const app = await createApp(db, vault, { name: 'demo', owner_user_id: ann.id, ads_access: 'read' }, now())

const authenticator = (more: Partial<AuthenticatorOptions> = {}) =>
  createAuthenticator({ database, vault, clock, adminToken: 'configured', cacheMs: 0, ...more })
const plain: Credentials = {
  authorization: undefined,
  method: 'GET',
  scheme: 'http',
  host: '127.0.0.1:8080',
  rawUrl: '/2/webhooks?a=b+c'
}
const bearer = (token: string): Credentials => ({ ...plain, authorization: `Bearer ${token}` })

let nonces = 0
interface Signing {
  consumerKey?: string
  consumerSecret?: string
  token?: string
  tokenSecret?: string
  timestamp?: number
  nonce?: string
}
const userToken = () =>
  createOAuth1AccessToken(db, vault, { app_id: app.id, user_id: ann.id, permissions: 'read-write' }, now())
const signed = (request: Credentials, keys: Signing, more: Partial<Parameters<typeof signRequest>[2]> = {}) => ({
  ...request,
  authorization: signRequest(
    request,
    { consumerKey: app.consumer_key, consumerSecret: app.consumer_secret, ...keys },
    { nonce: keys.nonce ?? `n${++nonces}`, timestamp: keys.timestamp ?? Math.floor(clock.ms / 1000), ...more }
  )
})

test('says what is wrong with credentials that are absent, odd or unknown', async () => {
  const { authenticate } = authenticator()
  const cases: [string | undefined, string][] = [
    [undefined, 'no-credentials'],
    ['', 'no-credentials'],
    ['Basic abc', 'malformed'],
    ['Bearer', 'malformed'],
    ['Bearer a b', 'malformed'],
    ['Bearer \u0000', 'malformed'],
    ['OAuth nonsense', 'malformed'],
    ['Bearer AAAAunknown', 'unknown-token'],
    ['Bearer hat_unknown', 'unknown-token'],
    ['Bearer something-else', 'unknown-token'],
    ['Bearer had_unknown', 'unknown-token']
  ]
  for (const [authorization, failure] of cases) {
    assert.deepEqual(await authenticate({ ...plain, authorization }), { failure }, String(authorization))
  }
})

test('knows an app by its bearer token, until that is invalidated or the app suspended', async () => {
  const { authenticate } = authenticator()
  const other = await createApp(db, vault, { name: 'other', quotas: { webhooks: 3 } }, now())
  const token = await appBearerToken(db, vault, other.id, now())
  await allow(db, { list: 'beta', subject_kind: 'app', subject_id: other.id }, now())

  assert.deepEqual(await authenticate({ ...plain, authorization: `bearer  ${token}` }), {
    kind: 'app',
    app: {
      id: other.id,
      name: 'other',
      owner_user_id: null,
      project_id: other.project_id,
      client_id: other.client_id,
      permissions: 'read-write-directmessages',
      products: other.products,
      ads_access: 'none',
      quotas: { webhooks: 3 },
      allow_lists: ['beta']
    }
  })
  await updateApp(db, other.id, { suspended: true }, now())
  assert.deepEqual(await authenticate(bearer(token)), { failure: 'suspended' })
  await updateApp(db, other.id, { suspended: false }, now())
  assert.equal(await invalidateAppToken(db, app.id, token, now()), false)
  assert.equal(await invalidateAppToken(db, other.id, token, now()), true)
  assert.deepEqual(await authenticate(bearer(token)), { failure: 'revoked' })
  assert.notEqual(await appBearerToken(db, vault, other.id, now()), token)
})

test('gives every caller at the same moment the same app token', async () => {
  const busy = await createApp(db, vault, { name: 'busy' }, now())

  const tokens = await Promise.all(Array.from({ length: 8 }, () => appBearerToken(db, vault, busy.id, now())))

  assert.equal(new Set(tokens).size, 1)
})

test('knows a user by an OAuth 2.0 token with its scopes, until it expires by the clock', async () => {
  const { authenticate } = authenticator()
  const bob = await createUser(db, { username: 'bob' }, now())
  await allow(db, { list: 'catalog.early_access', subject_kind: 'user', subject_id: bob.id }, now())
  const scopes = ['tweet.read', 'users.read']
  const short = await createOAuth2UserToken(db, { app_id: app.id, user_id: bob.id, scopes }, now())
  const endless = await createOAuth2UserToken(db, { app_id: app.id, user_id: bob.id, scopes, expiresIn: null }, now())
  assert.equal(short.expires_in, 7200)
  assert.equal(short.refresh_token, undefined)
  assert.equal(endless.expires_in, null)

  const principal = (await authenticate(bearer(short.access_token))) as OAuth2Principal

  assert.equal(principal.via, 'oauth2')
  assert.equal(principal.app.id, app.id)
  assert.deepEqual(principal.user, {
    id: bob.id,
    username: 'bob',
    name: 'bob',
    protected: false,
    allow_lists: ['catalog.early_access']
  })
  assert.deepEqual([...principal.scopes], scopes)
  assert.equal(principal.oauth1_permissions, null)
  const before = clock.ms
  clock.ms += 7_199_999
  assert.ok('kind' in (await authenticate(bearer(short.access_token))))
  clock.ms += 1
  assert.deepEqual(await authenticate(bearer(short.access_token)), { failure: 'expired' })
  clock.ms += 400 * 24 * 3600 * 1000
  assert.ok('kind' in (await authenticate(bearer(endless.access_token))))
  clock.ms = before
  await updateUser(db, bob.id, { suspended: true }, now())
  assert.deepEqual(await authenticate(bearer(endless.access_token)), { failure: 'suspended' })
})

test('tells an OAuth 2.0 caller what the same user has granted through OAuth 1.0a', async () => {
  const { authenticate } = authenticator()
  const eve = await createUser(db, { username: 'eve' }, now())
  const { access_token } = await createOAuth2UserToken(db, { app_id: app.id, user_id: eve.id, scopes: [] }, now())
  for (const permissions of ['read', 'read-write-directmessages', 'read-write'] as const) {
    await createOAuth1AccessToken(db, vault, { app_id: app.id, user_id: eve.id, permissions }, now())
  }

  const principal = (await authenticate(bearer(access_token))) as OAuth2Principal

  assert.equal(principal.oauth1_permissions, 'read-write-directmessages')
})

test('opens with the configured admin token and with those in the database', async () => {
  const { authenticate } = authenticator()
  const made = await createAdminToken(db, { name: 'ci', expiresIn: 60 }, now())

  assert.deepEqual(await authenticate(bearer('configured')), { kind: 'admin' })
  assert.deepEqual(await authenticate(bearer(made.token)), { kind: 'admin' })
  clock.ms += 60_000
  assert.deepEqual(await authenticate(bearer(made.token)), { failure: 'expired' })
  await revokeAdminToken(db, made.id, now())
  assert.deepEqual(await authenticate(bearer(made.token)), { failure: 'revoked' })
  assert.deepEqual(await authenticator({ adminToken: undefined }).authenticate(bearer('configured')), {
    failure: 'unknown-token'
  })
})

test('knows a user by a signature, whatever the body and the method', async () => {
  const { authenticate } = authenticator()
  const { oauth_token, oauth_token_secret } = await userToken()
  const keys = { token: oauth_token, tokenSecret: oauth_token_secret }
  assert.match(oauth_token, new RegExp(`^${ann.id}-[A-Za-z0-9_-]{20,}$`))
  const form = {
    ...plain,
    method: 'POST',
    contentType: 'application/x-www-form-urlencoded',
    rawBody: Buffer.from('x=1&x=0')
  }
  const json = { ...plain, method: 'PUT', contentType: 'application/json', rawBody: Buffer.from('{}') }

  for (const request of [plain, form, json]) {
    const principal = (await authenticate(signed(request, keys))) as OAuth1Principal
    assert.equal(principal.via, 'oauth1')
    assert.equal(principal.user.id, ann.id)
    assert.equal(principal.permissions, 'read-write')
    assert.equal(principal.app.ads_access, 'read')
  }
  const sha256 = signed(plain, keys, { signatureMethod: 'HMAC-SHA256' })
  assert.ok('kind' in (await authenticate(sha256)))
})

test('refuses signatures that do not fit, and says which part did not', async () => {
  const { authenticate } = authenticator()
  const { oauth_token: token, oauth_token_secret: tokenSecret } = await userToken()
  const stranger = await createApp(db, vault, { name: 'stranger' }, now())
  const seconds = Math.floor(clock.ms / 1000)
  const cases: [Credentials, string][] = [
    [signed(plain, { token, tokenSecret: 'wrong' }), 'bad-signature'],
    [signed(plain, { token, tokenSecret, consumerSecret: 'wrong' }), 'bad-signature'],
    [{ ...signed(plain, { token, tokenSecret }), rawUrl: '/2/webhooks?a=b+d' }, 'bad-signature'],
    [{ ...signed(plain, { token, tokenSecret }), host: '127.0.0.1:8081' }, 'bad-signature'],
    [signed(plain, { token, tokenSecret, consumerKey: 'nobody' }), 'unknown-consumer'],
    [signed(plain, { token: '42-unknown', tokenSecret }), 'unknown-token'],
    // A token belongs to one app.
    [
      signed(plain, {
        token,
        tokenSecret,
        consumerKey: stranger.consumer_key,
        consumerSecret: stranger.consumer_secret
      }),
      'unknown-token'
    ],
    [signed(plain, { token, tokenSecret, timestamp: seconds - 301 }), 'stale-timestamp'],
    [signed(plain, { token, tokenSecret, timestamp: seconds + 301 }), 'stale-timestamp'],
    [signed(plain, { consumerSecret: app.consumer_secret }), 'malformed']
  ]
  for (const [request, failure] of cases) assert.deepEqual(await authenticate(request), { failure })

  await revokeOAuth1Token(db, { hash: hashToken(token) }, now())
  assert.deepEqual(await authenticate(signed(plain, { token, tokenSecret })), { failure: 'revoked' })
})

test('takes a signed request once, on every node, and again after its nonce was released', async () => {
  const [one, two] = [authenticator(), authenticator()]
  const { oauth_token: token, oauth_token_secret: tokenSecret } = await userToken()
  const request = signed(plain, { token, tokenSecret, nonce: 'same' })

  const releases: (() => Promise<void>)[] = []
  const onNonceUsed = (release: () => Promise<void>) => releases.push(release)
  const answers = await Promise.all([one, two, one].map((node) => node.authenticate({ ...request, onNonceUsed })))
  assert.equal(answers.filter((answer) => 'kind' in answer).length, 1)
  assert.deepEqual(await two.authenticate({ ...request, onNonceUsed }), { failure: 'nonce-used' })
  // Only the request that used the nonce can give it back; its replays cannot.
  assert.equal(releases.length, 1)
  await releases[0]!()
  assert.ok('kind' in (await two.authenticate(request)))
  assert.deepEqual(await one.authenticate(request), { failure: 'nonce-used' })

  // Another timestamp or another token makes it another nonce; a wrong signature uses up none.
  const later = signed(plain, { token, tokenSecret, nonce: 'same', timestamp: Math.floor(clock.ms / 1000) + 1 })
  assert.ok('kind' in (await one.authenticate(later)))
  assert.deepEqual(await one.authenticate(signed(plain, { token, tokenSecret: 'x', nonce: 'mine' })), {
    failure: 'bad-signature'
  })
  assert.ok('kind' in (await one.authenticate(signed(plain, { token, tokenSecret, nonce: 'mine' }))))
})

test('verifies against the public address where one is configured', async () => {
  const { oauth_token: token, oauth_token_secret: tokenSecret } = await userToken()
  const seen = { ...plain, scheme: 'https', host: 'api.example.com', rawUrl: '/herald/2/webhooks?a=b+c' }
  const arrives = (request: Credentials) => ({ ...plain, authorization: request.authorization })
  const proxied = authenticator({ publicUrl: 'https://API.example.com:443/herald/' })

  assert.ok('kind' in (await proxied.authenticate(arrives(signed(seen, { token, tokenSecret })))))
  assert.deepEqual(await proxied.authenticate(signed(plain, { token, tokenSecret })), { failure: 'bad-signature' })
  const perListener = {
    ...arrives(signed({ ...seen, host: 'sandbox.example.com', rawUrl: plain.rawUrl }, { token, tokenSecret }))
  }
  assert.ok('kind' in (await proxied.authenticate({ ...perListener, publicUrl: 'https://sandbox.example.com' })))
})

test('accepts both consumer secrets for the overlap of a rotation, then only the new one', async () => {
  const { authenticate } = authenticator()
  const turning = await createApp(db, vault, { name: 'turning' }, now())
  const token = await createOAuth1AccessToken(
    db,
    vault,
    { app_id: turning.id, user_id: ann.id, permissions: 'read' },
    now()
  )
  const by = (consumerSecret: string) =>
    authenticate(
      signed(plain, {
        consumerKey: turning.consumer_key,
        consumerSecret,
        token: token.oauth_token,
        tokenSecret: token.oauth_token_secret
      })
    )

  const rotated = await rotateConsumerSecret(db, vault, turning.id, now(), 3600)

  assert.equal(rotated.previous_consumer_secret_valid_until, new Date(clock.ms + 3_600_000).toISOString())
  assert.ok('kind' in (await by(rotated.consumer_secret)))
  assert.ok('kind' in (await by(turning.consumer_secret)))
  clock.ms += 3_600_000
  assert.ok('kind' in (await by(rotated.consumer_secret)))
  assert.deepEqual(await by(turning.consumer_secret), { failure: 'bad-signature' })
  const atOnce = await rotateConsumerSecret(db, vault, turning.id, now(), 0)
  assert.deepEqual(await by(rotated.consumer_secret), { failure: 'bad-signature' })
  assert.ok('kind' in (await by(atOnce.consumer_secret)))
})

test('lowers what a token may do together with its app, never raises it', async () => {
  const { authenticate } = authenticator()
  const lowered = await createApp(db, vault, { name: 'lowered', permissions: 'read-write-directmessages' }, now())
  const token = await createOAuth1AccessToken(
    db,
    vault,
    { app_id: lowered.id, user_id: ann.id, permissions: 'read-write' },
    now()
  )
  const held = async () =>
    (
      (await authenticate(
        signed(plain, {
          consumerKey: lowered.consumer_key,
          consumerSecret: lowered.consumer_secret,
          token: token.oauth_token,
          tokenSecret: token.oauth_token_secret
        })
      )) as OAuth1Principal
    ).permissions

  assert.equal(await held(), 'read-write')
  await updateApp(db, lowered.id, { permissions: 'read' }, now())
  assert.equal(await held(), 'read')
})

test('believes a lookup for five seconds, unless told to forget', async () => {
  let ticks = 0
  const cached = authenticator({ cacheMs: 5_000, ticks: () => ticks })
  const known = async (token: string) => 'kind' in (await cached.authenticate(bearer(token)))
  const make = async () =>
    (await createOAuth2UserToken(db, { app_id: app.id, user_id: ann.id, scopes: [] }, now())).access_token
  const revoke = (token: string) => revokeOAuth2Token(db, { app_id: app.id, token }, now())
  const [one, two] = [await make(), await make()]

  assert.equal(await known(one), true)
  await revoke(one)
  ticks = 4_999
  assert.equal(await known(one), true)
  ticks = 5_000
  assert.equal(await known(one), false)

  assert.equal(await known(two), true)
  await revoke(two)
  cached.forget()
  assert.equal(await known(two), false)
})

test('keeps at most as many lookups as it may, and drops the oldest', async () => {
  const queries = { count: 0 }
  const counting = {
    ...database,
    pool: new Proxy(database.pool, {
      get: (pool, name) => {
        if (name === 'query') queries.count++
        const value = Reflect.get(pool, name)
        return typeof value === 'function' ? value.bind(pool) : value
      }
    })
  }
  const small = authenticator({ database: counting, cacheMs: 60_000, cacheEntriesMax: 2 })
  const tokens: string[] = []
  for (let index = 0; index < 3; index++) {
    tokens.push((await createOAuth2UserToken(db, { app_id: app.id, user_id: ann.id, scopes: [] }, now())).access_token)
  }
  queries.count = 0
  const ask = async (index: number) => {
    const before = queries.count
    await small.authenticate(bearer(tokens[index]!))
    return queries.count - before
  }

  assert.deepEqual(
    [await ask(0), await ask(0), await ask(1), await ask(2), await ask(1), await ask(0)],
    [1, 0, 1, 1, 0, 1]
  )
  const answers = await Promise.all([small.authenticate(bearer(tokens[1]!)), small.authenticate(bearer(tokens[1]!))])
  assert.ok(answers.every((answer) => 'kind' in answer))
})

test('hears of a revocation on another node through the database', async (t) => {
  const listener = createListener(database)
  t.after(() => listener.close())
  const node = authenticator({ cacheMs: 3_600_000, listener })
  t.after(() => node.close())
  const heard = new Promise<void>((resolve) => listener.on('identity', () => resolve()))
  await listener.ready()
  const { access_token } = await createOAuth2UserToken(db, { app_id: app.id, user_id: ann.id, scopes: [] }, now())
  assert.ok('kind' in (await node.authenticate(bearer(access_token))))

  await revokeOAuth2Token(db, { app_id: app.id, token: access_token }, now())
  await heard

  assert.deepEqual(await node.authenticate(bearer(access_token)), { failure: 'revoked' })
})

test('fails as the database fails, and does not remember that', async () => {
  let away = true
  const flaky = {
    ...database,
    pool: new Proxy(database.pool, {
      get: (pool, name) => {
        if (name === 'query' && away) return () => Promise.reject(new Error('away'))
        const value = Reflect.get(pool, name)
        return typeof value === 'function' ? value.bind(pool) : value
      }
    })
  }
  const node = authenticator({ database: flaky, cacheMs: 60_000 })
  const { access_token } = await createOAuth2UserToken(db, { app_id: app.id, user_id: ann.id, scopes: [] }, now())

  await assert.rejects(node.authenticate(bearer(access_token)), /away/)
  away = false
  assert.ok('kind' in (await node.authenticate(bearer(access_token))))
})
