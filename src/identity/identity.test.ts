import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { createAdminToken } from './admin-tokens.ts'
import { appBearerToken } from './app-tokens.ts'
import {
  consumerSecrets,
  createApp,
  getApp,
  isRedirectUri,
  listApps,
  rotateClientSecret,
  rotateConsumerSecret,
  setAppQuotas,
  updateApp,
  validSecrets
} from './apps.ts'
import {
  approveRequestToken,
  createOAuth1AccessToken,
  createRequestToken,
  exchangeRequestToken,
  findRequestToken
} from './oauth1-tokens.ts'
import { createCode, createOAuth2UserToken, exchangeCode, refreshTokens } from './oauth2-tokens.ts'
import { hashPassword } from './passwords.ts'
import { pruneIdentity } from './prune.ts'
import { findUserAuthorization } from './revocations.ts'
import { createVault, hashToken } from './secrets.ts'
import { createSession, verifyPassword } from './sign-in.ts'
import { listTokens, revokeTokenById, revokeUserApp } from './tokens.ts'
import { createUser, findUserByName, getUser, listUsers, updateUser } from './users.ts'

const { database } = await testDatabase({ after })
const { db, pool } = database
const vault = createVault(randomBytes(32))
const NOW = new Date('2026-01-15T12:00:00Z')
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)
const DAY = 24 * 3600

test('keeps an app with its settings, and shows its secrets only when they are made', async () => {
  const owner = await createUser(db, { username: 'owner' }, NOW)
  const app = await createApp(
    db,
    vault,
    {
      name: ' Demo ',
      owner_user_id: owner.id,
      permissions: 'read',
      redirect_uris: ['https://a.example/cb'],
      ads_access: 'read-write'
    },
    NOW
  )

  const read = await getApp(db, app.id)

  assert.equal(read.name, 'Demo')
  assert.equal(read.permissions, 'read')
  assert.equal(read.ads_access, 'read-write')
  assert.ok(read.project_id)
  assert.ok(read.products.includes('webhooks'))
  assert.equal(
    Object.keys(read).some((name) => name.includes('secret')),
    false
  )
  assert.deepEqual(
    (await listApps(db, { owner_user_id: owner.id })).map(({ id }) => id),
    [app.id]
  )
  await assert.rejects(getApp(db, '1'), { status: 404 })
  await assert.rejects(createApp(db, vault, { name: 'x', owner_user_id: '1' }, NOW), { status: 400 })
  await assert.rejects(createApp(db, vault, { name: ' ' }, NOW), { status: 400 })
  const changed = await updateApp(db, app.id, { name: 'Other', project_id: null, suspended: true }, later(1))
  assert.deepEqual([changed.name, changed.project_id, changed.suspended], ['Other', null, true])
  await assert.rejects(updateApp(db, '1', { name: 'x' }, NOW), { status: 404 })
})

test('merges quotas, and takes one back with null', async () => {
  const app = await createApp(db, vault, { name: 'q', quotas: { webhooks: 1, rules: 5 } }, NOW)

  const { quotas } = await setAppQuotas(db, app.id, { webhooks: 7, rules: null, subscriptions: 0 }, NOW)

  assert.deepEqual(quotas, { webhooks: 7, subscriptions: 0 })
  for (const bad of [{ webhooks: -1 }, { webhooks: 1.5 }, { 'No Name': 1 }] as Record<string, number>[]) {
    await assert.rejects(setAppQuotas(db, app.id, bad, NOW), { status: 400 })
  }
})

test('rotates the consumer secret with an overlap, and the client secret without', async () => {
  const app = await createApp(db, vault, { name: 'r' }, NOW)
  assert.deepEqual(await consumerSecrets(db, vault, app.id), { current: app.consumer_secret })

  const rotated = await rotateConsumerSecret(db, vault, app.id, NOW, 60)
  const secrets = await consumerSecrets(db, vault, app.id)

  assert.deepEqual(secrets, {
    current: rotated.consumer_secret,
    previous: { secret: app.consumer_secret, validUntil: later(60).toISOString() }
  })
  assert.deepEqual(validSecrets(secrets, later(59).getTime()), [rotated.consumer_secret, app.consumer_secret])
  assert.deepEqual(validSecrets(secrets, later(60).getTime()), [rotated.consumer_secret])
  const client = await rotateClientSecret(db, app.id, NOW)
  assert.notEqual(client.client_secret, app.client_secret)
  const open = await createApp(db, vault, { name: 'p', client_type: 'public' }, NOW)
  assert.equal(open.client_secret, null)
  await assert.rejects(rotateClientSecret(db, open.id, NOW), { status: 400 })
  await assert.rejects(rotateConsumerSecret(db, vault, '1', NOW), { status: 404 })
  await assert.rejects(consumerSecrets(db, vault, '1'), { status: 404 })
})

test('registers addresses that a browser can be sent to safely, ten at most', async () => {
  for (const good of [
    'https://a.example/cb?x=1',
    'http://127.0.0.1:3000/cb',
    'http://localhost/cb',
    'http://[::1]/',
    'my.app://callback'
  ]) {
    assert.equal(isRedirectUri(good), true, good)
  }
  for (const bad of [
    'http://a.example/cb',
    'https://a.example/#x',
    'https://u:p@a.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    '/cb',
    'https://a.example/ x',
    'https://a.example/\n',
    ''
  ]) {
    assert.equal(isRedirectUri(bad), false, bad)
  }
  const eleven = Array.from({ length: 11 }, (_, index) => `https://a.example/${index}`)
  await createApp(db, vault, { name: 'ten', redirect_uris: eleven.slice(1) }, NOW)
  await assert.rejects(createApp(db, vault, { name: 'eleven', redirect_uris: eleven }, NOW), { status: 400 })
})

test('has each username once, whatever its case', async () => {
  const carol = await createUser(db, { id: '77', username: 'Carol', protected: true, profile: { bio: 'hi' } }, NOW)

  assert.equal(carol.id, '77')
  assert.deepEqual((await findUserByName(db, 'cAROL'))?.profile, { bio: 'hi' })
  await assert.rejects(createUser(db, { username: 'CAROL' }, NOW), { status: 409 })
  await assert.rejects(createUser(db, { id: '77', username: 'carol2' }, NOW), { status: 409 })
  for (const username of ['', 'a b', 'x'.repeat(51), 'é']) {
    await assert.rejects(createUser(db, { username }, NOW), { status: 400 })
  }
  await assert.rejects(createUser(db, { id: 'abc', username: 'ok' }, NOW), { status: 400 })
  await assert.rejects(createUser(db, { username: 'ok', password: 'short' }, NOW), { status: 400 })
  assert.equal((await updateUser(db, '77', { username: 'caroline' }, NOW)).username, 'caroline')
  await assert.rejects(getUser(db, '78'), { status: 404 })
  assert.ok((await listUsers(db)).some(({ id }) => id === '77'))
  assert.equal(
    (await listUsers(db, { after: '77' })).some(({ id }) => id === '77'),
    false
  )
})

test('counts every attempt to sign in, also many at once, and lets other addresses try', async () => {
  const { id } = await createUser(db, { username: 'target' }, NOW)
  const password_hash = await hashPassword('right', { logN: 10, r: 8, p: 1 })
  await db.updateTable('users').set({ password_hash }).where('id', '=', id).execute()
  const attempt = (address: string) => verifyPassword(db, { username: 'Target', password: 'x', address }, NOW)

  const outcomes = (await Promise.all(Array.from({ length: 7 }, () => attempt('203.0.113.1')))).map(
    ({ outcome }) => outcome
  )

  assert.equal(outcomes.filter((outcome) => outcome === 'refused').length, 5)
  assert.equal(outcomes.filter((outcome) => outcome === 'too-many-attempts').length, 2)
  assert.equal((await attempt('203.0.113.2')).outcome, 'refused')
})

test('lists tokens without showing them, and revokes by the id it lists', async () => {
  const user = await createUser(db, { username: 'lister' }, NOW)
  const app = await createApp(db, vault, { name: 'l' }, NOW)
  await appBearerToken(db, vault, app.id, NOW)
  await createOAuth2UserToken(db, { app_id: app.id, user_id: user.id, scopes: ['tweet.read'], expiresIn: null }, NOW)
  await createOAuth1AccessToken(db, vault, { app_id: app.id, user_id: user.id, permissions: 'read' }, NOW)
  const admin = await createAdminToken(db, { name: 'laptop' }, NOW)

  const tokens = await listTokens(db, { app_id: app.id })

  assert.deepEqual(
    tokens.map(({ kind }) => kind),
    ['oauth1', 'oauth2', 'app']
  )
  assert.deepEqual(
    (await listTokens(db, { user_id: user.id })).map(({ kind }) => kind),
    ['oauth1', 'oauth2']
  )
  assert.equal((await listTokens(db, { id: admin.id }))[0]?.name, 'laptop')
  for (const { id } of [...tokens, admin]) {
    const revoked = await db.transaction().execute((tx) => revokeTokenById(tx, id, later(5)))
    assert.equal(revoked.revoked_at, later(5).toISOString())
    assert.equal((await revokeTokenById(db, id, later(9))).revoked_at, later(5).toISOString())
  }
  await assert.rejects(revokeTokenById(db, '1', NOW), { status: 404 })
})

test('knows what a user allows an app: OAuth 1.0a before OAuth 2.0, until all is revoked', async () => {
  const user = await createUser(db, { username: 'granter' }, NOW)
  const app = await createApp(db, vault, { name: 'g' }, NOW)
  const ids = { app_id: app.id, user_id: user.id }
  const allowed = () => findUserAuthorization(db, app.id, user.id)
  assert.equal(await allowed(), undefined)
  await createOAuth2UserToken(db, { ...ids, scopes: ['tweet.read'] }, NOW)
  await createOAuth2UserToken(db, { ...ids, scopes: ['dm.read', 'tweet.read'] }, NOW)
  assert.deepEqual(await allowed(), { via: 'oauth2', scopes: ['tweet.read', 'dm.read'] })
  await createOAuth1AccessToken(db, vault, { ...ids, permissions: 'read' }, NOW)
  await createOAuth1AccessToken(db, vault, { ...ids, permissions: 'read-write' }, NOW)
  assert.deepEqual(await allowed(), { via: 'oauth1', permissions: 'read-write' })

  assert.equal(await db.transaction().execute((tx) => revokeUserApp(tx, app.id, user.id, NOW)), true)

  assert.equal(await allowed(), undefined)
  assert.equal(await revokeUserApp(db, app.id, user.id, NOW), false)
  const jobs = await db.selectFrom('jobs').select('payload').where('kind', '=', 'identity.revoked').execute()
  assert.equal(jobs.filter((job) => (job.payload as { user_id: string }).user_id === user.id).length, 4)
})

test('revokes and reports together, or neither', async () => {
  const user = await createUser(db, { username: 'rollback' }, NOW)
  const app = await createApp(db, vault, { name: 'rb' }, NOW)
  await createOAuth1AccessToken(db, vault, { app_id: app.id, user_id: user.id, permissions: 'read' }, NOW)

  await assert.rejects(
    db.transaction().execute(async (tx) => {
      await revokeUserApp(tx, app.id, user.id, NOW)
      throw new Error('something else failed')
    }),
    /something else/
  )

  assert.ok(await findUserAuthorization(db, app.id, user.id))
  const jobs = await db.selectFrom('jobs').select('payload').where('kind', '=', 'identity.revoked').execute()
  assert.equal(
    jobs.some((job) => (job.payload as { user_id: string }).user_id === user.id),
    false
  )
})

test('forgets what has expired and keeps what still matters', async () => {
  const { database: own } = await testDatabase({ after })
  const user = await createUser(own.db, { username: 'ann' }, NOW)
  const app = await createApp(own.db, vault, { name: 'a' }, NOW)
  const ids = { app_id: app.id, user_id: user.id }
  const short = await createOAuth2UserToken(own.db, { ...ids, scopes: [] }, NOW)
  const endless = await createOAuth2UserToken(own.db, { ...ids, scopes: [], expiresIn: null }, NOW)
  const kept = await createOAuth2UserToken(own.db, { ...ids, scopes: ['offline.access'] }, NOW)
  const rotated = await refreshTokens(own.db, { app_id: app.id, refresh_token: kept.refresh_token! }, NOW)
  await createRequestToken(own.db, vault, { app_id: app.id, callback: 'oob', permissions: 'read' }, NOW)
  await createSession(own.db, user.id, 'authorize', NOW)
  await own.pool.query("insert into sign_in_attempts values ('user:x', 3, $1)", [later(900)])
  await createCode(
    own.db,
    { ...ids, scopes: [], redirect_uri: 'https://a.example/', code_challenge: 'x', code_challenge_method: 'plain' },
    NOW
  )
  await own.pool.query('insert into oauth1_nonces values ($1, $2)', [Buffer.from('n'), later(300)])

  const atOnce = await pruneIdentity(own.db, later(60))
  assert.deepEqual(
    Object.values(atOnce),
    Object.values(atOnce).map(() => 0)
  )
  const later31 = later(31 * DAY)
  assert.deepEqual(await pruneIdentity(own.db, later31), {
    nonces: 1,
    attempts: 1,
    sessions: 1,
    request_tokens: 1,
    codes: 1,
    refresh_tokens: 1,
    access_tokens: 3,
    grants: 1,
    oauth1_tokens: 0,
    app_tokens: 0
  })
  const left = await own.db.selectFrom('oauth2_access_tokens').select('token_hash').execute()
  assert.deepEqual(
    left.map((row) => row.token_hash),
    [hashToken(endless.access_token)]
  )
  assert.ok(short.access_token)
  assert.equal(rotated.outcome, 'refreshed')
  if (rotated.outcome === 'refreshed') {
    const again = { app_id: app.id, refresh_token: rotated.tokens.refresh_token! }
    assert.equal((await refreshTokens(own.db, again, later31)).outcome, 'refreshed')
  }
})

test('stores no secret in clear, in no table and no column', async () => {
  const password = 'a password in clear text'
  const user = await createUser(db, { username: 'secretive', password }, NOW)
  const app = await createApp(db, vault, { name: 's' }, NOW)
  const ids = { app_id: app.id, user_id: user.id }
  const rotated = await rotateConsumerSecret(db, vault, app.id, NOW)
  const bearer = await appBearerToken(db, vault, app.id, NOW)
  const oauth1 = await createOAuth1AccessToken(db, vault, { ...ids, permissions: 'read' }, NOW)
  const request = await createRequestToken(db, vault, { app_id: app.id, callback: 'oob', permissions: 'read' }, NOW)
  const pin = await approveRequestToken(db, (await findRequestToken(db, request.oauth_token, NOW))!, user.id)
  const code = await createCode(
    db,
    {
      ...ids,
      scopes: ['offline.access'],
      redirect_uri: 'https://a.example/',
      code_challenge: 'v',
      code_challenge_method: 'plain'
    },
    NOW
  )
  const input = { app_id: app.id, code, redirect_uri: 'https://a.example/', code_verifier: 'v' }
  const exchanged = await exchangeCode(db, input, NOW)
  assert.equal(exchanged.outcome, 'exchanged')
  const tokens = exchanged.outcome === 'exchanged' ? exchanged.tokens : undefined
  const session = await createSession(db, user.id, 'authorize', NOW)
  const admin = await createAdminToken(db, { name: 'x' }, NOW)
  assert.equal(
    (await verifyPassword(db, { username: 'secretive', password, address: '::1' }, NOW)).outcome,
    'signed-in'
  )
  await verifyPassword(db, { username: password, password: 'x', address: '::1' }, NOW)
  const secrets = [
    password,
    app.consumer_secret,
    app.client_secret,
    rotated.consumer_secret,
    bearer,
    oauth1.oauth_token,
    oauth1.oauth_token_secret,
    request.oauth_token,
    request.oauth_token_secret,
    code,
    tokens?.access_token,
    tokens?.refresh_token,
    session,
    admin.token
  ]

  const { rows: tables } = await pool.query("select tablename from pg_tables where schemaname = 'public'")
  let dump = ''
  for (const { tablename } of tables) {
    const { rows } = await pool.query(`select to_jsonb(t)::text as row from ${tablename} t`)
    dump += rows.map(({ row }) => row).join('\n')
  }

  assert.ok(dump.includes(app.consumer_key), 'the dump holds what is stored')
  assert.ok(dump.includes(hashToken(session).toString('hex')), 'bytes are dumped as hex')
  for (const secret of secrets) {
    assert.ok(secret)
    assert.equal(dump.includes(secret), false)
    assert.equal(dump.includes(Buffer.from(secret).toString('hex')), false)
    assert.equal(dump.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '')), false)
  }
  assert.match(pin!, /^\d{7}$/)
  const wrongPin = { app_id: app.id, token: request.oauth_token, verifier: pin === '0000000' ? '1' : '0000000' }
  assert.equal(await exchangeRequestToken(db, vault, wrongPin, NOW), undefined)
})
