/** Signing in to the console, and what the session may do then. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp, type TestApp } from '../../test/app.ts'
import { givenApp, givenUser } from '../../test/given.ts'
import { ALLOW_LISTS, allow, createAdminToken, updateUser } from '../identity/index.ts'

const PASSWORD = 'a good long password'
type Headers = Record<string, string>

const shared = await startApp({ after })
let addresses = 0
let names = 0

/** Our page in one browser, which has an address of its own. */
function browser({ apps }: TestApp) {
  let cookie = ''
  const remoteAddress = `10.0.0.${++addresses}`
  const ours: Headers = { 'x-herald-console': '1', 'sec-fetch-site': 'same-origin' }
  const ask = async (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    { payload, headers = ours }: { payload?: object; headers?: Headers } = {}
  ) => {
    const answer = await apps.main.inject({
      method,
      url,
      remoteAddress,
      headers: { ...(cookie ? { cookie } : {}), ...headers },
      ...(payload ? { payload } : {})
    })
    for (const { name, value } of answer.cookies) cookie = value ? `${name}=${value}` : ''
    return answer
  }
  return {
    ask,
    ours,
    get cookie() {
      return cookie
    },
    signIn: (payload: object, headers: Headers = ours) => ask('POST', '/console/session', { payload, headers })
  }
}

async function given(app = shared) {
  const ann = await givenUser(app, { username: `ann_${++names}`, password: PASSWORD })
  return { app, ann, page: browser(app) }
}

test('a session lets a person do what they may, and nothing before it or after it', async () => {
  const { app, ann, page } = await given()

  assert.equal((await page.ask('GET', '/12/accounts')).statusCode, 401)
  assert.deepEqual(Object.keys((await page.ask('GET', '/console/session')).json().data), ['urls'])
  const signedIn = await page.signIn({ username: `@${ann.username}`, password: PASSWORD })
  assert.equal(signedIn.statusCode, 200, signedIn.body)
  assert.deepEqual(signedIn.json().data.person, {
    user: { id: ann.id, username: ann.username, name: ann.username },
    operator: false,
    apps: []
  })
  const [cookie] = signedIn.cookies
  assert.deepEqual(
    { httpOnly: cookie?.httpOnly, sameSite: cookie?.sameSite, path: cookie?.path },
    { httpOnly: true, sameSite: 'Strict', path: '/' }
  )
  assert.equal((await page.ask('GET', '/12/accounts')).statusCode, 200)
  assert.equal((await page.ask('GET', '/console/sandbox/12/accounts')).statusCode, 200)
  assert.equal((await page.ask('GET', '/admin/apps')).statusCode, 403)

  const stolen = page.cookie
  await page.ask('DELETE', '/console/session')
  assert.equal(page.cookie, '')
  const after = await app.apps.main.inject({ url: '/12/accounts', headers: { cookie: stolen, ...page.ours } })
  assert.equal(after.statusCode, 401)
})

test('a wrong password and an unknown name get the same answer, and guessing ends', async () => {
  const { ann, page } = await given()

  const wrong = await page.signIn({ username: ann.username, password: 'not the password' })
  const unknown = await page.signIn({ username: 'nobody', password: 'not the password' })
  assert.equal(wrong.statusCode, 401)
  assert.deepEqual(unknown.json(), wrong.json())
  for (let i = 0; i < 4; i++) await page.signIn({ username: ann.username, password: `guess ${i}` })
  const refused = await page.signIn({ username: ann.username, password: PASSWORD })
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.headers['retry-after'], '900')
})

test('the cookie counts only for requests that our own page sent', async () => {
  const { ann, page } = await given()
  await page.signIn({ username: ann.username, password: PASSWORD })

  const elsewhere: Record<string, Headers> = {
    'no header of ours': { 'sec-fetch-site': 'same-origin' },
    'another site': { 'x-herald-console': '1', 'sec-fetch-site': 'cross-site' },
    'another port of this host': { 'x-herald-console': '1', 'sec-fetch-site': 'same-site' },
    'another origin': { 'x-herald-console': '1', origin: 'https://evil.example' },
    'an opaque origin': { 'x-herald-console': '1', origin: 'null' }
  }
  for (const [what, headers] of Object.entries(elsewhere)) {
    assert.equal((await page.ask('GET', '/12/accounts', { headers })).statusCode, 401, what)
    assert.equal((await page.ask('GET', '/console/sandbox/12/accounts', { headers })).statusCode, 404, what)
    assert.equal((await page.ask('DELETE', '/console/session', { headers })).statusCode, 403, what)
    assert.equal((await page.signIn({ username: ann.username, password: PASSWORD }, headers)).statusCode, 403, what)
  }
  const here = { 'x-herald-console': '1', origin: 'http://localhost:80' }
  assert.equal((await page.ask('GET', '/12/accounts', { headers: here })).statusCode, 200)
})

test('a credential in the Authorization header is never helped out by the cookie', async () => {
  const { ann, page } = await given()
  await page.signIn({ username: ann.username, password: PASSWORD })

  const answer = await page.ask('GET', '/12/accounts', {
    headers: { ...page.ours, authorization: 'Bearer hat_nothing' }
  })

  assert.equal(answer.statusCode, 401)
})

test('a person acts as their own apps, an operator as any, and nobody as an app that is none of theirs', async () => {
  const { app, ann, page } = await given()
  const mine = await givenApp(app, { name: 'Mine', owner_user_id: ann.id })
  const other = await givenApp(app, { name: 'Other' })
  const as = (id: string) => ({ headers: { ...page.ours, 'x-herald-app': id } })

  const { person } = (await page.signIn({ username: ann.username, password: PASSWORD })).json().data
  assert.deepEqual(person.apps, [{ id: mine.id, name: 'Mine' }])
  assert.equal((await page.ask('GET', '/2/webhooks', as(mine.id))).statusCode, 200)
  assert.equal((await page.ask('GET', '/2/webhooks', as(other.id))).statusCode, 401)
  assert.equal((await page.ask('GET', '/2/webhooks', as('1'))).statusCode, 401)
  assert.equal((await page.ask('GET', '/2/webhooks')).statusCode, 403)

  await page.signIn({ admin_token: app.adminToken })
  assert.equal((await page.ask('GET', '/2/webhooks', as(other.id))).statusCode, 200)
  assert.equal((await page.ask('GET', '/admin/apps', as(other.id))).statusCode, 200)
})

test('what the console asks as an app is not taken from the limits of the app', async () => {
  const { app, ann, page } = await given()
  const mine = await givenApp(app, { owner_user_id: ann.id })
  await page.signIn({ username: ann.username, password: PASSWORD })
  const left = (answer: Awaited<ReturnType<typeof page.ask>>) => Number(answer.headers['x-rate-limit-remaining'])
  const asApp = () => app.apps.main.inject({ url: '/2/webhooks', headers: mine.headers })
  const before = left(await asApp())

  for (let i = 0; i < 3; i++)
    await page.ask('GET', '/2/webhooks', { headers: { ...page.ours, 'x-herald-app': mine.id } })

  assert.equal(left(await asApp()), before - 1)
})

test('the operator signs in with an admin token, and the session ends with it', async () => {
  const { app, page } = await given()
  const { db } = app.deps.database
  const { id, token } = await createAdminToken(db, { name: 'night shift' }, new Date(app.deps.clock.now()))

  assert.equal((await page.signIn({ admin_token: 'had_wrong' })).statusCode, 401)
  const { person } = (await page.signIn({ admin_token: ` ${token}\n` })).json().data
  assert.deepEqual(person, { user: null, operator: true, apps: [] })
  assert.equal((await page.ask('GET', '/admin/apps')).statusCode, 200)
  assert.equal((await page.ask('GET', '/12/accounts')).statusCode, 401)
  assert.equal((await page.ask('DELETE', `/admin/tokens/${id}`)).statusCode, 200)
  assert.equal((await page.ask('GET', '/admin/apps')).statusCode, 401)
})

test('guessing admin tokens ends after a few', async () => {
  const { app, page } = await given()

  for (let i = 0; i < 10; i++) assert.equal((await page.signIn({ admin_token: `had_${i}` })).statusCode, 401)

  assert.equal((await page.signIn({ admin_token: app.adminToken })).statusCode, 429)
})

test('a user on the list of operators may do both, until they are taken off it', async () => {
  const { app, ann, page } = await given()
  const entry = { list: ALLOW_LISTS.operators, subject_kind: 'user', subject_id: ann.id } as const
  await allow(app.deps.database.db, entry, new Date(app.deps.clock.now()))
  await page.signIn({ username: ann.username, password: PASSWORD })

  assert.equal((await page.ask('GET', '/admin/apps')).statusCode, 200)
  assert.equal((await page.ask('GET', '/12/accounts')).statusCode, 200)
  assert.equal((await page.ask('DELETE', '/admin/allow_lists', { payload: entry })).statusCode, 200)
  assert.equal((await page.ask('GET', '/admin/apps')).statusCode, 403)
})

test('signing out everywhere ends the sessions of all browsers of this person, and of no one else', async () => {
  const { app, ann, page } = await given()
  const phone = browser(app)
  const operator = browser(app)
  await page.signIn({ username: ann.username, password: PASSWORD })
  await phone.signIn({ username: ann.username, password: PASSWORD })
  await operator.signIn({ admin_token: app.adminToken })

  await page.ask('DELETE', '/console/session?everywhere=true')

  assert.equal((await phone.ask('GET', '/12/accounts')).statusCode, 401)
  assert.equal((await operator.ask('GET', '/admin/apps')).statusCode, 200)
})

test('a session ends with its time, a new password and a suspension', async () => {
  const { app, ann, page } = await given()
  const { db } = app.deps.database
  const now = () => new Date(app.deps.clock.now())
  const signedIn = async () => 'person' in (await page.ask('GET', '/console/session')).json().data

  await page.signIn({ username: ann.username, password: PASSWORD })
  await updateUser(db, ann.id, { password: 'another long password' }, now())
  app.deps.authenticator.forget()
  assert.equal(await signedIn(), false)

  await page.signIn({ username: ann.username, password: 'another long password' })
  assert.equal(await signedIn(), true)
  await app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { advance: '12h' }
  })
  assert.equal(await signedIn(), false)

  await page.signIn({ username: ann.username, password: 'another long password' })
  await updateUser(db, ann.id, { suspended: true }, now())
  app.deps.authenticator.forget()
  assert.equal(await signedIn(), false)
})

test('over https the cookie is bound to this host', async (t) => {
  const { ann, page } = await given(await startApp(t, { HERALD_PUBLIC_URL: 'https://herald.example' }))

  const signedIn = await page.signIn(
    { username: ann.username, password: PASSWORD },
    { ...page.ours, origin: 'https://herald.example' }
  )

  assert.equal(signedIn.cookies[0]?.name, '__Host-herald_console')
  assert.equal(signedIn.cookies[0]?.secure, true)
  assert.equal((await page.ask('GET', '/12/accounts')).statusCode, 200)
})
