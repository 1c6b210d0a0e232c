import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { Person } from '../../test/person.ts'
import type { TestClock } from '../clock.ts'
import { createApp } from './apps.ts'
import { signRequest } from './oauth1.ts'
import { hashPassword } from './passwords.ts'
import type { OAuth1Principal } from './principal.ts'
import type { Revoked } from './revocations.ts'
import { createUser } from './users.ts'

const herald = await startApp({ after })
const { main } = herald.apps
const { vault, authenticator } = herald.deps
const clock = herald.deps.clock as TestClock
const { db } = herald.deps.database
const now = () => new Date(clock.now())
const PASSWORD = 'correct horse battery'
const ann = await createUser(db, { username: 'ann' }, now())
const password_hash = await hashPassword(PASSWORD, { logN: 10, r: 8, p: 1 })
await db.updateTable('users').set({ password_hash }).where('id', '=', ann.id).execute()

const CALLBACK = 'https://client.example/cb'
const givenApp = () =>
  createApp(db, vault, { name: 'Demo', redirect_uris: [CALLBACK], permissions: 'read-write' }, now())
type App = Awaited<ReturnType<typeof givenApp>>

let nonces = 0
interface Sent {
  token?: string
  tokenSecret?: string
  extra?: Record<string, string>
  body?: string
  consumerSecret?: string
  nonce?: string
  timestamp?: number
}
const send = (app: App, url: string, sent: Sent = {}) => {
  const contentType = 'application/x-www-form-urlencoded'
  const authorization = signRequest(
    {
      method: 'POST',
      scheme: 'http',
      host: 'localhost:80',
      rawUrl: url,
      ...(sent.body ? { contentType, rawBody: sent.body } : {})
    },
    {
      consumerKey: app.consumer_key,
      consumerSecret: sent.consumerSecret ?? app.consumer_secret,
      ...(sent.token === undefined ? {} : { token: sent.token }),
      ...(sent.tokenSecret === undefined ? {} : { tokenSecret: sent.tokenSecret })
    },
    {
      nonce: sent.nonce ?? `n${++nonces}`,
      timestamp: sent.timestamp ?? Math.floor(clock.now() / 1000),
      ...(sent.extra ? { extra: sent.extra } : {})
    }
  )
  return main.inject({
    method: 'POST',
    url,
    headers: { authorization, ...(sent.body ? { 'content-type': contentType } : {}) },
    ...(sent.body ? { payload: sent.body } : {})
  })
}
const requestToken = async (app: App, callback = CALLBACK, more: Record<string, string> = {}) => {
  const answer = await send(app, '/oauth/request_token', { extra: { oauth_callback: callback, ...more } })
  assert.equal(answer.statusCode, 200, answer.body)
  const form = new URLSearchParams(answer.body)
  return { token: form.get('oauth_token')!, tokenSecret: form.get('oauth_token_secret')! }
}
const personAt = async (url: string) => {
  const person = new Person(main)
  await person.open(url)
  await person.signIn('ann', PASSWORD)
  return person
}
const verifierOf = (location: string) => new URL(location).searchParams.get('oauth_verifier')!
const accessToken = async (app: App) => {
  const request = await requestToken(app)
  const back = await (await personAt(`/oauth/authorize?oauth_token=${request.token}`)).press('allow')
  const answer = await send(app, '/oauth/access_token', {
    ...request,
    extra: { oauth_verifier: verifierOf(back.location!) }
  })
  const form = new URLSearchParams(answer.body)
  return { token: form.get('oauth_token')!, tokenSecret: form.get('oauth_token_secret')! }
}
const principalOf = (app: App, keys: { token: string; tokenSecret: string }) => {
  const request = { method: 'GET', scheme: 'http', host: 'h', rawUrl: '/x' }
  const authorization = signRequest(
    request,
    { consumerKey: app.consumer_key, consumerSecret: app.consumer_secret, ...keys },
    { nonce: `p${++nonces}`, timestamp: Math.floor(clock.now() / 1000) }
  )
  return authenticator.authenticate({ ...request, authorization })
}
const failure = (code: number, message: string) => ({ errors: [{ code, message }] })

test('takes a person through three legs to a token that signs requests', async () => {
  const app = await givenApp()
  const first = await send(app, '/oauth/request_token', { extra: { oauth_callback: CALLBACK } })
  assert.equal(first.statusCode, 200)
  assert.match(String(first.headers['content-type']), /^application\/x-www-form-urlencoded/)
  assert.match(first.body, /^oauth_token=[\w-]+&oauth_token_secret=[\w-]+&oauth_callback_confirmed=true$/)
  const form = new URLSearchParams(first.body)
  const request = { token: form.get('oauth_token')!, tokenSecret: form.get('oauth_token_secret')! }

  const person = new Person(main)
  assert.match((await person.open(`/oauth/authorize?oauth_token=${request.token}`)).body, /Sign in to continue to Demo/)
  const consent = await person.signIn('ann', PASSWORD)
  assert.match(consent.body, /Post and change your profile/)
  assert.doesNotMatch(consent.body, /direct messages/)
  const back = await person.press('allow')
  const location = new URL(back.location!)
  assert.equal(location.origin + location.pathname, CALLBACK)
  assert.equal(location.searchParams.get('oauth_token'), request.token)

  const third = await send(app, '/oauth/access_token', {
    ...request,
    body: `oauth_verifier=${verifierOf(back.location!)}`
  })
  assert.equal(third.statusCode, 200, third.body)
  assert.match(
    third.body,
    new RegExp(`^oauth_token=${ann.id}-[\\w-]+&oauth_token_secret=[\\w-]+&user_id=${ann.id}&screen_name=ann$`)
  )
  const access = new URLSearchParams(third.body)
  const principal = (await principalOf(app, {
    token: access.get('oauth_token')!,
    tokenSecret: access.get('oauth_token_secret')!
  })) as OAuth1Principal
  assert.equal(principal.user.id, ann.id)
  assert.equal(principal.permissions, 'read-write')

  const again = await send(app, '/oauth/access_token', {
    ...request,
    extra: { oauth_verifier: verifierOf(back.location!) }
  })
  assert.equal(again.statusCode, 401)
  assert.deepEqual(again.json(), failure(89, 'Invalid or expired token'))
})

test('lets an app ask for less than it may', async () => {
  const app = await givenApp()
  const request = await requestToken(app, CALLBACK, { x_auth_access_type: 'read' })

  const consent = await (await personAt(`/oauth/authorize?oauth_token=${request.token}`)).open(
    `/oauth/authorize?oauth_token=${request.token}`
  )

  assert.doesNotMatch(consent.body, /Post and change/)
})

test('shows a PIN to applications without an address, and ends the request after five wrong ones', async () => {
  const app = await givenApp()
  const pinFor = async (token: string) => {
    const page = await (await personAt(`/oauth/authorize?oauth_token=${token}`)).press('allow')
    assert.equal(page.status, 200)
    return /class="pin">(\d{7})</.exec(page.body)![1]!
  }
  const exchange = (request: { token: string; tokenSecret: string }, oauth_verifier: string) =>
    send(app, '/oauth/access_token', { ...request, extra: { oauth_verifier } })

  const good = await requestToken(app, 'oob')
  const pin = await pinFor(good.token)
  assert.equal((await exchange(good, 'wrong')).statusCode, 401)
  assert.equal((await exchange(good, pin)).statusCode, 200)

  const guessed = await requestToken(app, 'oob')
  const hidden = await pinFor(guessed.token)
  for (let attempt = 0; attempt < 5; attempt++) assert.equal((await exchange(guessed, '0')).statusCode, 401)
  assert.equal((await exchange(guessed, hidden)).statusCode, 401)
})

test('refuses callbacks that are not registered', async () => {
  const app = await givenApp()
  for (const callback of ['https://evil.example/', `${CALLBACK}/`, '', 'OOB']) {
    const answer = await send(app, '/oauth/request_token', { extra: { oauth_callback: callback } })
    assert.equal(answer.statusCode, 403)
    assert.equal(answer.json().errors[0].code, 415)
  }
  const inBody = await send(app, '/oauth/request_token', { body: `oauth_callback=${encodeURIComponent(CALLBACK)}` })
  assert.equal(inBody.statusCode, 200)
})

test('refuses requests that are not properly signed, with the code of the reason', async () => {
  const app = await givenApp()
  const extra = { oauth_callback: CALLBACK }
  const seconds = Math.floor(clock.now() / 1000)
  const could = failure(32, 'Could not authenticate you')
  const bad = failure(215, 'Bad Authentication data')

  const unsigned = await main.inject({ method: 'POST', url: '/oauth/request_token' })
  assert.deepEqual([unsigned.statusCode, unsigned.json()], [401, bad])
  const malformed = await main.inject({
    method: 'POST',
    url: '/oauth/access_token',
    headers: { authorization: 'OAuth oauth_consumer_key="%00"' }
  })
  assert.deepEqual([malformed.statusCode, malformed.json()], [401, bad])
  for (const sent of [
    { extra, consumerSecret: 'wrong' },
    { extra, timestamp: seconds - 600 },
    { extra, timestamp: seconds + 600 }
  ]) {
    const answer = await send(app, '/oauth/request_token', sent)
    assert.deepEqual([answer.statusCode, answer.json()], [401, could])
  }
  const nobody = await send({ ...app, consumer_key: 'nobody' }, '/oauth/request_token', { extra })
  assert.deepEqual([nobody.statusCode, nobody.json()], [401, could])
  assert.equal((await send(app, '/oauth/request_token', { extra, nonce: 'once' })).statusCode, 200)
  const replayed = await send(app, '/oauth/request_token', { extra, nonce: 'once' })
  assert.deepEqual([replayed.statusCode, replayed.json()], [401, could])
})

test('exchanges a request token only after consent, for the app that asked, before it runs out', async () => {
  const app = await givenApp()
  const other = await givenApp()
  const request = await requestToken(app)
  const exchange = (by: App, verifier: string) =>
    send(by, '/oauth/access_token', { ...request, extra: { oauth_verifier: verifier } })

  assert.equal((await exchange(app, 'x')).statusCode, 401)
  const back = await (await personAt(`/oauth/authorize?oauth_token=${request.token}`)).press('allow')
  const verifier = verifierOf(back.location!)
  assert.equal((await exchange(other, verifier)).statusCode, 401)
  assert.equal((await exchange(app, '')).statusCode, 401)
  clock.offsetMs += 15 * 60 * 1000
  assert.equal((await exchange(app, verifier)).statusCode, 401)
  const stale = await main.inject(`/oauth/authorize?oauth_token=${request.token}`)
  assert.equal(stale.statusCode, 400)
  for (const query of ['', '?oauth_token=unknown', '?oauth_token=%00']) {
    assert.equal((await main.inject(`/oauth/authorize${query}`)).statusCode, 400)
  }
})

test('tells the app when the person refuses, and forgets the request', async () => {
  const app = await givenApp()
  const request = await requestToken(app)
  const person = await personAt(`/oauth/authorize?oauth_token=${request.token}`)

  const back = await person.press('deny')

  assert.equal(back.location, `${CALLBACK}?denied=${request.token}`)
  assert.equal((await person.open(`/oauth/authorize?oauth_token=${request.token}`)).status, 400)
  const outOfBand = await requestToken(app, 'oob')
  const denied = await (await personAt(`/oauth/authorize?oauth_token=${outOfBand.token}`)).press('deny')
  assert.match(denied.body, /You denied access/)
})

test('takes one answer per request', async () => {
  const app = await givenApp()
  const { token } = await requestToken(app)
  const url = `/oauth/authorize?oauth_token=${token}`
  const person = await personAt(url)
  assert.equal((await person.press('allow')).status, 303)

  assert.equal((await person.open(url)).status, 400)
})

test('signs a person in without asking again what they allowed before, except on the authorize page', async () => {
  const app = await givenApp()
  await accessToken(app)
  const person = await personAt(`/oauth/authorize?oauth_token=${(await requestToken(app)).token}`)

  const passed = await person.open(`/oauth/authenticate?oauth_token=${(await requestToken(app)).token}`)
  assert.equal(passed.status, 303)
  assert.match(passed.location!, /oauth_verifier=/)
  const asked = await person.open(`/oauth/authorize?oauth_token=${(await requestToken(app)).token}`)
  assert.match(asked.body, /wants to access your account/)
  const stranger = await person.open(`/oauth/authenticate?oauth_token=${(await requestToken(await givenApp())).token}`)
  assert.match(stranger.body, /wants to access your account/)
})

test('invalidates the token that signs, at once, and reports it', async () => {
  const app = await givenApp()
  const access = await accessToken(app)
  assert.ok('kind' in (await principalOf(app, access)))

  const done = await send(app, '/1.1/oauth/invalidate_token', access)

  assert.equal(done.statusCode, 200, done.body)
  assert.deepEqual(done.json(), { access_token: access.token })
  assert.deepEqual(await principalOf(app, access), { failure: 'revoked' })
  const again = await send(app, '/1.1/oauth/invalidate_token', access)
  assert.deepEqual([again.statusCode, again.json()], [401, failure(89, 'Invalid or expired token')])
  const jobs = await db.selectFrom('jobs').select('payload').where('kind', '=', 'identity.revoked').execute()
  const mine = jobs.map((job) => job.payload as Revoked).filter((payload) => payload.app_id === app.id)
  assert.deepEqual(
    mine.map(({ app_id, user_id, via }) => ({ app_id, user_id, via })),
    [{ app_id: app.id, user_id: ann.id, via: 'oauth1' }]
  )
  const bearer = await main.inject({
    method: 'POST',
    url: '/1.1/oauth/invalidate_token',
    headers: { authorization: `Bearer ${herald.adminToken}` }
  })
  assert.equal(bearer.statusCode, 403)
  assert.equal(bearer.json().errors[0].code, 220)
})

test('lets the identical request through again after a failure that was the server’s', async () => {
  const app = await givenApp()
  const access = await accessToken(app)
  const same = { ...access, nonce: 'retry', timestamp: Math.floor(clock.now() / 1000) }
  const { pool } = herald.deps.database
  // "Too many connections", as an overloaded database would say.
  await pool.query(`create function refuse() returns trigger language plpgsql
    as $$ begin raise exception 'no' using errcode = '53300'; end $$`)
  await pool.query('create trigger refuse before update on oauth1_access_tokens execute function refuse()')

  const failed = await send(app, '/1.1/oauth/invalidate_token', same)
  assert.equal(failed.statusCode, 503, failed.body)
  assert.ok(failed.headers['retry-after'])
  await pool.query('drop trigger refuse on oauth1_access_tokens')
  const retried = await send(app, '/1.1/oauth/invalidate_token', same)
  assert.equal(retried.statusCode, 200, retried.body)
})

test('verifies what a client behind a proxy signed, with the public address or the forwarded one', async (t) => {
  const tokenFor = async (env: Record<string, string>, seen: string, headers: Record<string, string>) => {
    const proxied = await startApp(t, env)
    const { apps, deps } = proxied
    const app = await createApp(deps.database.db, deps.vault, { name: 'Demo', redirect_uris: [CALLBACK] }, now())
    const url = new URL(seen)
    const authorization = signRequest(
      { method: 'POST', scheme: url.protocol.slice(0, -1), host: url.host, rawUrl: url.pathname },
      { consumerKey: app.consumer_key, consumerSecret: app.consumer_secret },
      { timestamp: Math.floor(deps.clock.now() / 1000), extra: { oauth_callback: CALLBACK } }
    )
    const answer = await apps.main.inject({
      method: 'POST',
      url: '/oauth/request_token',
      headers: { authorization, ...headers }
    })
    return answer.statusCode
  }
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' }

  const seen = 'https://api.example.com/oauth/request_token'
  assert.equal(await tokenFor({ HERALD_TRUST_PROXY: '1' }, seen, forwarded), 200)
  assert.equal(await tokenFor({}, seen, forwarded), 401)
  const below = 'https://api.example.com/herald/oauth/request_token'
  assert.equal(await tokenFor({ HERALD_PUBLIC_URL: 'https://api.example.com/herald' }, below, {}), 200)
})
