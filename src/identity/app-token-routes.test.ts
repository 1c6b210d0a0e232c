import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { createApp, rotateConsumerSecret, updateApp } from './apps.ts'
import { signRequest } from './oauth1.ts'
import { createOAuth1AccessToken } from './oauth1-tokens.ts'
import { createUser } from './users.ts'

const herald = await startApp({ after })
const { main } = herald.apps
const { vault, clock } = herald.deps
const { db } = herald.deps.database
const now = () => new Date(clock.now())
const owner = await createUser(db, { username: 'owner' }, now())
const givenApp = () => createApp(db, vault, { name: 'demo', owner_user_id: owner.id }, now())

const FORM = 'application/x-www-form-urlencoded;charset=UTF-8'
const basic = (key: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(key)}:${encodeURIComponent(secret)}`).toString('base64')}`
const post = (url: string, authorization: string | undefined, payload = '', contentType = FORM) =>
  main.inject({
    method: 'POST',
    url,
    headers: { 'content-type': contentType, ...(authorization ? { authorization } : {}) },
    payload
  })
const REFUSED = {
  errors: [{ code: 99, label: 'authenticity_token_error', message: 'Unable to verify your credentials' }]
}

test('gives an app the same bearer token until it is invalidated, then another', async () => {
  const app = await givenApp()
  const authorization = basic(app.consumer_key, app.consumer_secret)
  const ask = async () => (await post('/oauth2/token', authorization, 'grant_type=client_credentials')).json()
  const works = async (token: string) =>
    (await main.inject({ url: '/2/nothing-here', headers: { authorization: `Bearer ${token}` } })).statusCode !== 401

  const first = await ask()
  assert.deepEqual(Object.keys(first).sort(), ['access_token', 'token_type'])
  assert.equal(first.token_type, 'bearer')
  assert.match(first.access_token, /^AAAA/)
  assert.deepEqual(await ask(), first)
  assert.equal(await works(first.access_token), true)
  const principal = await herald.deps.authenticator.authenticate({
    authorization: `Bearer ${first.access_token}`,
    method: 'GET',
    scheme: 'http',
    host: 'h',
    rawUrl: '/'
  })
  assert.equal('kind' in principal && principal.kind, 'app')

  const gone = await post('/oauth2/invalidate_token', authorization, `access_token=${first.access_token}`)
  assert.equal(gone.statusCode, 200)
  assert.deepEqual(gone.json(), { access_token: first.access_token })
  assert.deepEqual(
    await herald.deps.authenticator.authenticate({
      authorization: `Bearer ${first.access_token}`,
      method: 'GET',
      scheme: 'http',
      host: 'h',
      rawUrl: '/'
    }),
    { failure: 'revoked' }
  )
  const second = await ask()
  assert.notEqual(second.access_token, first.access_token)
  const again = await post('/oauth2/invalidate_token', authorization, `access_token=${first.access_token}`)
  assert.equal(again.statusCode, 403)
})

test('refuses everything else with 403 and code 99', async () => {
  const app = await givenApp()
  const suspended = await givenApp()
  await updateApp(db, suspended.id, { suspended: true }, now())
  const good = basic(app.consumer_key, app.consumer_secret)
  const grant = 'grant_type=client_credentials'
  const cases: [string, string | undefined, string][] = [
    ['no credentials', undefined, grant],
    ['a wrong secret', basic(app.consumer_key, 'wrong'), grant],
    ['a wrong key', basic('wrong', app.consumer_secret), grant],
    ['the OAuth 2.0 client pair', basic(app.client_id, app.client_secret!), grant],
    ['a bearer token', 'Bearer abc', grant],
    ['broken base64', 'Basic %%%', grant],
    ['a null character', basic('\0', 'x'), grant],
    ['a broken escape', `Basic ${Buffer.from('%E0%A4:%').toString('base64')}`, grant],
    ['a suspended app', basic(suspended.consumer_key, suspended.consumer_secret), grant],
    ['another grant', good, 'grant_type=password'],
    ['no grant', good, ''],
    ['two grants', good, `${grant}&grant_type=password`]
  ]
  for (const [name, authorization, body] of cases) {
    const answer = await post('/oauth2/token', authorization, body)
    assert.equal(answer.statusCode, 403, name)
    assert.deepEqual(answer.json(), REFUSED, name)
  }
})

test('knows an app by either secret while one is being rotated', async () => {
  const app = await givenApp()
  const rotated = await rotateConsumerSecret(db, vault, app.id, now(), 3600)
  const status = async (secret: string) =>
    (await post('/oauth2/token', basic(app.consumer_key, secret), 'grant_type=client_credentials')).statusCode

  assert.equal(await status(app.consumer_secret), 200)
  assert.equal(await status(rotated.consumer_secret), 200)
})

test('lets the owner invalidate by signature, and nobody else', async () => {
  const app = await givenApp()
  const other = await createUser(db, { username: 'someone' }, now())
  const { access_token } = (
    await post('/oauth2/token', basic(app.consumer_key, app.consumer_secret), 'grant_type=client_credentials')
  ).json()
  const signedBy = async (userId: string) => {
    const token = await createOAuth1AccessToken(
      db,
      vault,
      { app_id: app.id, user_id: userId, permissions: 'read' },
      now()
    )
    const rawUrl = `/oauth2/invalidate_token?access_token=${access_token}`
    const authorization = signRequest(
      { method: 'POST', scheme: 'http', host: 'localhost:80', rawUrl },
      {
        consumerKey: app.consumer_key,
        consumerSecret: app.consumer_secret,
        token: token.oauth_token,
        tokenSecret: token.oauth_token_secret
      },
      { nonce: `n-${userId}`, timestamp: Math.floor(clock.now() / 1000) }
    )
    return post(rawUrl, authorization)
  }

  assert.deepEqual((await signedBy(other.id)).json(), REFUSED)
  const unsigned = await post('/oauth2/invalidate_token', 'OAuth oauth_token="x"', `access_token=${access_token}`)
  assert.equal(unsigned.statusCode, 401)
  assert.deepEqual(unsigned.json(), { errors: [{ code: 215, message: 'Bad Authentication data' }] })
  const done = await signedBy(owner.id)
  assert.equal(done.statusCode, 200, done.body)
  assert.deepEqual(done.json(), { access_token })
})

test('does not let one app invalidate the token of another', async () => {
  const [mine, theirs] = [await givenApp(), await givenApp()]
  const { access_token } = (
    await post('/oauth2/token', basic(theirs.consumer_key, theirs.consumer_secret), 'grant_type=client_credentials')
  ).json()

  const answer = await post(
    '/oauth2/invalidate_token',
    basic(mine.consumer_key, mine.consumer_secret),
    `access_token=${access_token}`
  )

  assert.equal(answer.statusCode, 403)
  assert.deepEqual(answer.json(), REFUSED)
})

test('answers odd bodies in its own words, never with a 500', async () => {
  const app = await givenApp()
  const authorization = basic(app.consumer_key, app.consumer_secret)
  const bodies: [string, string | Buffer, string?][] = [
    ['not UTF-8', Buffer.from([0x67, 0xff, 0xfe])],
    ['null bytes', 'grant_type=client_credentials%00'],
    ['JSON', '{"grant_type":"client_credentials"', 'application/json'],
    ['deep JSON', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'application/json'],
    ['nothing known', 'x', 'application/octet-stream']
  ]
  for (const [name, payload, type] of bodies) {
    const answer = await main.inject({
      method: 'POST',
      url: '/oauth2/token',
      headers: { authorization, 'content-type': type ?? FORM },
      payload
    })
    assert.equal(answer.statusCode, 403, name)
  }
  const huge = await post('/oauth2/token', authorization, 'x'.repeat(70_000))
  assert.equal(huge.statusCode, 413)
  assert.equal(huge.json().errors[0].code, 214)
})

test('revokes through the admin API before it answers', async () => {
  const app = await givenApp()
  const admin = { authorization: `Bearer ${herald.adminToken}` }
  const body = { kind: 'oauth2', app_id: app.id, user_id: owner.id }
  const made = await main.inject({ method: 'POST', url: '/admin/tokens', headers: admin, payload: body })
  assert.equal(made.statusCode, 200, made.body)
  const asking = () =>
    herald.deps.authenticator.authenticate({
      authorization: `Bearer ${made.json().data.access_token}`,
      method: 'GET',
      scheme: 'http',
      host: 'h',
      rawUrl: '/'
    })
  assert.ok('kind' in (await asking()))
  const listed = await main.inject({ url: `/admin/tokens?app_id=${app.id}`, headers: admin })

  await main.inject({ method: 'DELETE', url: `/admin/tokens/${listed.json().data[0].id}`, headers: admin })

  assert.deepEqual(await asking(), { failure: 'revoked' })
  const anonymous = await main.inject({ method: 'DELETE', url: `/admin/tokens/${listed.json().data[0].id}` })
  assert.equal(anonymous.statusCode, 401)
})
