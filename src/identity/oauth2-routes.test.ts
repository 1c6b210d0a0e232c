import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { Person } from '../../test/person.ts'
import type { TestClock } from '../clock.ts'
import { type ClientType, createApp, updateApp } from './apps.ts'
import { hashPassword } from './passwords.ts'
import { createUser, updateUser } from './users.ts'

const herald = await startApp({ after })
const { main } = herald.apps
const { vault, authenticator } = herald.deps
const clock = herald.deps.clock as TestClock
const { db } = herald.deps.database
const now = () => new Date(clock.now())
const PASSWORD = 'correct horse battery'
/** With a hash that is quick to check; its cost stands beside it. */
const givenUser = async (username: string) => {
  const user = await createUser(db, { username, name: `${username} <b>` }, now())
  const password_hash = await hashPassword(PASSWORD, { logN: 10, r: 8, p: 1 })
  await db.updateTable('users').set({ password_hash }).where('id', '=', user.id).execute()
  return user
}
const ann = await givenUser('Ann')

const CALLBACK = 'https://client.example/callback?keep=1'
const VERIFIER = 'a'.repeat(43)
const S256 = createHash('sha256').update(VERIFIER).digest('base64url')
const givenApp = (client_type: ClientType = 'confidential', name = 'Demo <script>') =>
  createApp(db, vault, { name, client_type, redirect_uris: [CALLBACK, 'demo.app://cb'] }, now())
type App = Awaited<ReturnType<typeof givenApp>>

const authorizeUrl = (
  app: { client_id: string },
  more: Record<string, string | undefined> = {},
  path = '/i/oauth2/authorize'
) => {
  const query = {
    response_type: 'code',
    client_id: app.client_id,
    redirect_uri: CALLBACK,
    scope: 'tweet.read users.read offline.access',
    state: 'st&te',
    code_challenge: S256,
    code_challenge_method: 'S256',
    ...more
  }
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${path}?${new URLSearchParams(given)}`
}
const signedIn = async (app: App, more: Record<string, string | undefined> = {}, path?: string) => {
  const person = new Person(main)
  await person.open(authorizeUrl(app, more, path))
  await person.signIn('ann', PASSWORD)
  return person
}
const codeOf = (location: string) => new URL(location).searchParams.get('code')!
const allow = async (app: App, more: Record<string, string | undefined> = {}) =>
  codeOf((await (await signedIn(app, more)).press('allow')).location!)

const basic = (app: App, secret = app.client_secret) =>
  `Basic ${Buffer.from(`${app.client_id}:${secret}`).toString('base64')}`
const tokenRequest = (
  body: Record<string, string>,
  {
    authorization,
    json = false,
    url = '/2/oauth2/token'
  }: { authorization?: string; json?: boolean; url?: string } = {}
) =>
  main.inject({
    method: 'POST',
    url,
    headers: {
      'content-type': json ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(authorization ? { authorization } : {})
    },
    payload: json ? JSON.stringify(body) : new URLSearchParams(body).toString()
  })
const exchangeBody = (code: string, more: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: CALLBACK,
  code_verifier: VERIFIER,
  ...more
})
const tokensOf = async (app: App, more: Record<string, string | undefined> = {}) =>
  (await tokenRequest(exchangeBody(await allow(app, more)), { authorization: basic(app) })).json()
const refreshed = (app: App, refresh_token: string, more: Record<string, string> = {}) =>
  tokenRequest({ grant_type: 'refresh_token', refresh_token, ...more }, { authorization: basic(app) })
const asking = async (token: string) => {
  const answer = await authenticator.authenticate({
    authorization: `Bearer ${token}`,
    method: 'GET',
    scheme: 'http',
    host: 'h',
    rawUrl: '/'
  })
  return 'failure' in answer ? answer.failure : answer.kind
}
const revocations = async () =>
  (await db.selectFrom('jobs').select('payload').where('kind', '=', 'identity.revoked').orderBy('id').execute()).map(
    (job) => job.payload as { app_id: string; user_id: string; via: string }
  )

test('takes a person from the authorize page to a token with the scopes they allowed', async () => {
  const app = await givenApp()
  const person = new Person(main)

  const signIn = await person.open(authorizeUrl(app))
  assert.equal(signIn.status, 200)
  assert.match(signIn.body, /Sign in to continue to Demo &lt;script&gt;/)
  const consent = await person.signIn('@ann ', PASSWORD)
  assert.equal(consent.status, 200)
  assert.match(consent.body, /Demo &lt;script&gt; wants to access your account/)
  assert.match(consent.body, /Stay connected to your account/)
  assert.match(consent.body, /signed in as @Ann/)
  const back = await person.press('allow')
  assert.equal(back.status, 303)
  const location = new URL(back.location!)
  assert.equal(location.origin + location.pathname, 'https://client.example/callback')
  assert.deepEqual([...location.searchParams.keys()], ['keep', 'state', 'code'])
  assert.equal(location.searchParams.get('state'), 'st&te')

  const answer = await tokenRequest(exchangeBody(codeOf(back.location!)), { authorization: basic(app) })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const tokens = answer.json()
  assert.deepEqual(Object.keys(tokens), ['token_type', 'expires_in', 'access_token', 'scope', 'refresh_token'])
  assert.equal(tokens.token_type, 'bearer')
  assert.equal(tokens.expires_in, 7200)
  assert.equal(tokens.scope, 'tweet.read users.read offline.access')
  const principal = await authenticator.authenticate({
    authorization: `Bearer ${tokens.access_token}`,
    method: 'GET',
    scheme: 'http',
    host: 'h',
    rawUrl: '/'
  })
  assert.ok('via' in principal && principal.via === 'oauth2')
  assert.equal(principal.user.id, ann.id)
  assert.deepEqual([...principal.scopes], ['tweet.read', 'users.read', 'offline.access'])
})

test('works for public clients, as JSON, with plain or lower-case challenges, and at the other address', async () => {
  const app = await givenApp('public', 'Public')
  const variants: [Record<string, string | undefined>, string][] = [
    [{ code_challenge: VERIFIER, code_challenge_method: 'plain' }, '/i/oauth2/authorize'],
    [{ code_challenge: VERIFIER, code_challenge_method: undefined }, '/2/oauth2/authorize'],
    [{ code_challenge_method: 's256' }, '/2/oauth2/authorize']
  ]
  for (const [more, path] of variants) {
    const back = await (await signedIn(app, more, path)).press('allow')
    const body = exchangeBody(codeOf(back.location!), { client_id: app.client_id })
    const answer = await tokenRequest(body, { json: true })
    assert.equal(answer.statusCode, 200, answer.body)
  }
})

test('gives no refresh token without offline.access, and knows the other spelling of a scope', async () => {
  const app = await givenApp()

  const tokens = await tokensOf(app, { scope: 'follow.read tweet.read' })

  assert.equal(tokens.scope, 'follows.read tweet.read')
  assert.equal('refresh_token' in tokens, false)
})

test('tells the app when the person refuses', async () => {
  const person = await signedIn(await givenApp())

  const back = await person.press('deny')

  assert.equal(back.status, 303)
  assert.equal(back.location, 'https://client.example/callback?keep=1&error=access_denied&state=st%26te')
})

test('shows a page, and redirects nowhere, when the app or its address is not registered', async () => {
  const app = await givenApp()
  const suspended = await givenApp()
  await updateApp(db, suspended.id, { suspended: true }, now())
  const cases = [
    authorizeUrl({ client_id: 'nobody' }),
    authorizeUrl({ client_id: '\0' }),
    authorizeUrl(suspended),
    authorizeUrl(app, { client_id: undefined }),
    authorizeUrl(app, { redirect_uri: undefined }),
    authorizeUrl(app, { redirect_uri: 'https://client.example/callback' }),
    authorizeUrl(app, { redirect_uri: 'https://evil.example/' }),
    `${authorizeUrl(app)}&redirect_uri=https://evil.example/`,
    '/i/oauth2/authorize?client_id=%E0%A4%A'
  ]
  for (const url of cases) {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await main.inject({ method, url })
      assert.equal(answer.statusCode, 400, url)
      assert.equal(answer.headers.location, undefined)
      assert.match(String(answer.headers['content-type']), /text\/html/)
    }
  }
})

test('tells the app by redirect what is wrong with its request', async () => {
  const app = await givenApp()
  const cases: [Record<string, string | undefined>, string][] = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: undefined }, 'unsupported_response_type'],
    [{ scope: 'tweet.read everything' }, 'invalid_scope'],
    [{ scope: '' }, 'invalid_scope'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ code_challenge: 'x'.repeat(129) }, 'invalid_request'],
    [{ code_challenge_method: 'S512' }, 'invalid_request']
  ]
  for (const [more, error] of cases) {
    const answer = await main.inject(authorizeUrl(app, more))
    assert.equal(answer.statusCode, 303, JSON.stringify(more))
    const { searchParams } = new URL(String(answer.headers.location))
    assert.equal(searchParams.get('error'), error)
    assert.equal(searchParams.get('state'), 'st&te')
    assert.equal(searchParams.get('code'), null)
  }
  const twice = await main.inject(`${authorizeUrl(app)}&scope=dm.read`)
  assert.equal(new URL(String(twice.headers.location)).searchParams.get('error'), 'invalid_request')
})

test('carries a state of 500 characters and refuses a longer one', async () => {
  const app = await givenApp()
  const longest = 's'.repeat(500)
  const back = await (await signedIn(app, { state: longest })).press('allow')
  assert.equal(new URL(back.location!).searchParams.get('state'), longest)

  const answer = await main.inject(authorizeUrl(app, { state: `${longest}s` }))

  const { searchParams } = new URL(String(answer.headers.location))
  assert.equal(searchParams.get('error'), 'invalid_request')
  assert.equal(searchParams.get('state'), null)
})

test('sends pages that run nothing, load nothing and cannot be framed', async () => {
  const app = await givenApp()
  const person = new Person(main)

  const signIn = await person.open(authorizeUrl(app, { redirect_uri: 'demo.app://cb' }))
  const consent = await person.signIn('ann', PASSWORD)

  for (const page of [signIn, consent]) {
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(page.headers['x-frame-options'], 'DENY')
    assert.equal(page.headers['cache-control'], 'no-store')
    assert.doesNotMatch(page.body, /<script|\s(src|href|on\w+)=/i)
    const style = /<style>([\s\S]*)<\/style>/.exec(page.body)![1]!
    assert.ok(policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`))
  }
  assert.match(String(consent.headers['content-security-policy']), /form-action 'self' demo\.app:;/)
  const cookies = String(signIn.headers['set-cookie'])
  assert.match(cookies, /HttpOnly; SameSite=Lax/)
})

test('takes forms only from the page it showed to this browser for this request', async () => {
  const app = await givenApp()
  const [ours, other] = [await signedIn(app), await signedIn(app, { scope: 'dm.read' })]
  const { body } = await other.open(authorizeUrl(app, { scope: 'dm.read' }))
  const foreign = /name="csrf" value="([^"]*)"/.exec(body)![1]!

  for (const csrf of ['', 'x', foreign]) {
    const answer = await ours.press('allow', { csrf })
    assert.equal(answer.status, 403)
    assert.equal(answer.location, undefined)
  }
  await ours.open(authorizeUrl(app))
  const crossSite = await ours.press('allow', {}, { 'sec-fetch-site': 'cross-site' })
  assert.equal(crossSite.status, 403)
  await ours.open(authorizeUrl(app))
  assert.equal((await ours.press('anything')).status, 403)
  const stranger = new Person(main)
  await stranger.open(authorizeUrl(app))
  stranger.cookies.clear()
  assert.equal((await stranger.signIn('ann', PASSWORD)).status, 403)
  await ours.open(authorizeUrl(app))
  assert.equal((await ours.press('allow', {}, { 'sec-fetch-site': 'same-origin' })).status, 303)
})

test('asks again who it is after signing out, or when the session has run out', async () => {
  const app = await givenApp()
  const person = await signedIn(app)

  const out = await person.press('sign_out')
  assert.match(out.body, /Sign in to continue/)
  assert.equal(person.cookies.has('herald_session'), false)
  await person.signIn('ann', PASSWORD)
  clock.offsetMs += 12 * 3600 * 1000
  assert.match((await person.press('allow')).body, /Sign in to continue/)
})

test('refuses a wrong password without saying what was wrong, and stops guessing', async () => {
  const app = await givenApp()
  await givenUser('guessed')
  const person = new Person(main)
  await person.open(authorizeUrl(app))

  const unknown = await person.signIn('nobody_here', PASSWORD)
  assert.equal(unknown.status, 401)
  const wrong = await person.signIn('guessed', '"><i>wrong')
  assert.equal(wrong.status, 401)
  assert.equal(/role="alert">([^<]*)/.exec(wrong.body)![1], /role="alert">([^<]*)/.exec(unknown.body)![1])
  assert.doesNotMatch(wrong.body, /<i>/)
  for (let attempt = 2; attempt <= 5; attempt++) await person.signIn('guessed', 'wrong')
  const stopped = await person.signIn('guessed', PASSWORD)
  assert.equal(stopped.status, 429)
  assert.equal(stopped.headers['retry-after'], '900')
  clock.offsetMs += 15 * 60 * 1000
  assert.match((await person.signIn('guessed', PASSWORD)).body, /wants to access/)
})

test('lets nobody in who is suspended or has no password', async () => {
  const app = await givenApp()
  const bob = await givenUser('bob')
  await createUser(db, { username: 'nopass' }, now())
  const person = new Person(main)
  await person.open(authorizeUrl(app))
  assert.match((await person.signIn('bob', PASSWORD)).body, /wants to access/)

  await updateUser(db, bob.id, { suspended: true }, now())

  assert.match((await person.press('allow')).body, /Sign in to continue/)
  assert.equal((await person.signIn('bob', PASSWORD)).status, 401)
  assert.equal((await person.signIn('nopass', '')).status, 401)
})

test('refuses a code that is late, for another address, another app, or with another verifier', async () => {
  const app = await givenApp()
  const other = await givenApp()
  const description = async (body: Record<string, string>, by = app) => {
    const answer = await tokenRequest(body, { authorization: basic(by) })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'invalid_request')
    return answer.json().error_description
  }
  const code = await allow(app)
  const INVALID = 'Value passed for the authorization code was invalid.'

  assert.equal(await description(exchangeBody('made up')), INVALID)
  assert.equal(await description(exchangeBody(code), other), INVALID)
  assert.match(await description(exchangeBody(code, { redirect_uri: 'demo.app://cb' })), /redirect uri/)
  assert.equal(
    await description(exchangeBody(code, { code_verifier: 'b'.repeat(43) })),
    'Value passed for the code verifier did not match the code challenge.'
  )
  for (const name of ['code', 'redirect_uri', 'code_verifier']) {
    assert.equal(await description(exchangeBody(code, { [name]: '' })), `Missing required parameter [${name}].`)
  }
  clock.offsetMs += 29_000
  const late = await allow(app)
  assert.equal((await tokenRequest(exchangeBody(code), { authorization: basic(app) })).statusCode, 200)
  clock.offsetMs += 30_000
  assert.equal(await description(exchangeBody(late)), INVALID)
})

test('takes a code once; showing it again ends what it gave', async () => {
  const app = await givenApp()
  const code = await allow(app)
  const [one, two] = await Promise.all(
    [1, 2].map(() => tokenRequest(exchangeBody(code), { authorization: basic(app) }))
  )

  assert.deepEqual([one!.statusCode, two!.statusCode].sort(), [200, 400])
  const { access_token, refresh_token } = [one!, two!].find((answer) => answer.statusCode === 200)!.json()
  assert.equal(await asking(access_token), 'revoked')
  assert.equal((await refreshed(app, refresh_token)).statusCode, 400)
  assert.deepEqual(
    (await revocations()).filter((each) => each.app_id === app.id).map(({ user_id, via }) => ({ user_id, via })),
    [{ user_id: ann.id, via: 'oauth2' }]
  )
})

test('asks confidential clients for their secret and public ones for their name', async () => {
  const app = await givenApp()
  const open = await givenApp('public', 'Open')
  const body = { grant_type: 'refresh_token', refresh_token: 'x' }
  const cases: [string, Record<string, string>, string | undefined, number, string][] = [
    ['nobody', body, undefined, 400, 'invalid_request'],
    ['an unknown client', { ...body, client_id: 'nobody' }, undefined, 400, 'invalid_request'],
    ['no secret', { ...body, client_id: app.client_id }, undefined, 401, 'unauthorized_client'],
    ['a wrong secret', body, basic(app, 'wrong'), 401, 'unauthorized_client'],
    [
      'a wrong secret in the body',
      { ...body, client_id: app.client_id, client_secret: 'x' },
      undefined,
      401,
      'unauthorized_client'
    ],
    [
      'the consumer pair',
      body,
      `Basic ${btoa(`${app.consumer_key}:${app.consumer_secret}`)}`,
      401,
      'unauthorized_client'
    ],
    ['another scheme', { ...body, client_id: open.client_id }, 'Bearer x', 401, 'unauthorized_client'],
    ['a secret for a public client', body, `Basic ${btoa(`${open.client_id}:secret`)}`, 401, 'unauthorized_client'],
    ['no grant type', { client_id: open.client_id }, undefined, 400, 'invalid_request'],
    [
      'an odd grant type',
      { client_id: open.client_id, grant_type: 'password' },
      undefined,
      400,
      'unsupported_grant_type'
    ],
    ['no refresh token', { client_id: open.client_id, grant_type: 'refresh_token' }, undefined, 400, 'invalid_request']
  ]
  for (const [name, fields, authorization, status, error] of cases) {
    const answer = await tokenRequest(fields, authorization ? { authorization } : {})
    assert.equal(answer.statusCode, status, name)
    assert.equal(answer.json().error, error, name)
    if (status === 401) assert.equal(answer.json().error_description, 'Missing valid authorization header')
  }
  const good = await tokenRequest({ ...body, client_id: app.client_id, client_secret: app.client_secret! })
  assert.equal(good.json().error_description, 'Value passed for the token was invalid.')
  const twice = await main.inject({
    method: 'POST',
    url: '/2/oauth2/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `client_id=${open.client_id}&client_id=x`
  })
  assert.equal(twice.statusCode, 400)
})

test('rotates refresh tokens; showing a used one ends the whole family', async () => {
  const app = await givenApp()
  const first = await tokensOf(app)

  const second = (await refreshed(app, first.refresh_token)).json()
  assert.notEqual(second.refresh_token, first.refresh_token)
  assert.notEqual(second.access_token, first.access_token)
  assert.equal(second.scope, first.scope)
  assert.equal(await asking(first.access_token), 'user')
  assert.equal(await asking(second.access_token), 'user')
  const third = (await refreshed(app, second.refresh_token)).json()
  assert.equal(await asking(third.access_token), 'user')

  const reused = await refreshed(app, first.refresh_token)
  assert.equal(reused.statusCode, 400)
  assert.equal(reused.json().error_description, 'Value passed for the token was invalid.')
  for (const tokens of [first, second, third]) assert.equal(await asking(tokens.access_token), 'revoked')
  assert.equal((await refreshed(app, third.refresh_token)).statusCode, 400)
})

test('refreshes within the scopes that were granted, for the app they were granted to', async () => {
  const app = await givenApp()
  const other = await givenApp()
  const first = await tokensOf(app)

  assert.equal((await refreshed(other, first.refresh_token)).statusCode, 400)
  assert.equal((await refreshed(app, first.refresh_token, { scope: 'dm.read' })).json().error, 'invalid_scope')
  assert.equal((await refreshed(app, first.refresh_token, { scope: 'nonsense' })).json().error, 'invalid_scope')
  const narrow = (await refreshed(app, first.refresh_token, { scope: 'tweet.read' })).json()
  assert.equal(narrow.scope, 'tweet.read offline.access')
  const wide = (await refreshed(app, narrow.refresh_token)).json()
  assert.equal(wide.scope, first.scope)
})

test('expires access tokens after two hours by the clock', async () => {
  const app = await givenApp()
  const { access_token, refresh_token } = await tokensOf(app)

  clock.offsetMs += 7_199_000
  assert.equal(await asking(access_token), 'user')
  clock.offsetMs += 1_000
  assert.equal(await asking(access_token), 'expired')
  assert.equal((await refreshed(app, refresh_token)).statusCode, 200)
})

test('revokes what an app shows, at once, and says the same when there was nothing', async () => {
  const app = await givenApp()
  const other = await givenApp()
  const revoke = (token: string, by = app) =>
    tokenRequest({ token, token_type_hint: 'anything' }, { authorization: basic(by), url: '/2/oauth2/revoke' })
  const [one, two] = [await tokensOf(app), await tokensOf(app)]
  const short = await tokensOf(app, { scope: 'tweet.read' })

  assert.deepEqual((await revoke(one.access_token, other)).json(), { revoked: true })
  assert.equal(await asking(one.access_token), 'user')
  assert.deepEqual((await revoke(one.access_token)).json(), { revoked: true })
  assert.equal(await asking(one.access_token), 'revoked')
  assert.equal((await refreshed(app, one.refresh_token)).statusCode, 200)
  assert.equal((await revocations()).filter((each) => each.app_id === app.id).length, 0)

  assert.deepEqual((await revoke(two.refresh_token)).json(), { revoked: true })
  assert.equal(await asking(two.access_token), 'revoked')
  assert.equal((await refreshed(app, two.refresh_token)).statusCode, 400)
  // Without a refresh token nothing is left of the grant.
  await revoke(short.access_token)
  assert.equal((await revocations()).filter((each) => each.app_id === app.id).length, 2)

  assert.deepEqual((await revoke('made up')).json(), { revoked: true })
  const nothing = await tokenRequest({}, { authorization: basic(app), url: '/2/oauth2/revoke' })
  assert.equal(nothing.json().error_description, 'Missing required parameter [token].')
  const nobody = await tokenRequest({ token: 'x' }, { url: '/2/oauth2/revoke' })
  assert.equal(nobody.statusCode, 400)
})
