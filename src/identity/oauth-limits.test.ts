import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp, type TestApp } from '../../test/app.ts'
import { givenApp } from '../../test/given.ts'

const limits = (overrides: string) =>
  startApp({ after }, { HERALD_RATE_LIMITS: 'on', HERALD_RATE_LIMIT_OVERRIDES: overrides })
const app = await limits('oauth.client=2,oauth.stranger=2,oauth.page=2')

const basic = ({ consumer_key, consumer_secret }: { consumer_key: string; consumer_secret: string }) =>
  `Basic ${Buffer.from(`${consumer_key}:${consumer_secret}`).toString('base64')}`
const ask = (
  url: string,
  { of = app, payload = '', ...headers }: { of?: TestApp; payload?: string; authorization?: string } = {}
) =>
  of.apps.main.inject({
    method: 'POST',
    url,
    remoteAddress: '192.0.2.7',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload
  })
const token = (client: { consumer_key: string; consumer_secret: string }, of = app) =>
  ask('/oauth2/token', { of, payload: 'grant_type=client_credentials', authorization: basic(client) })

test('an app that asks for its token too often gets 403 and code 99, others are not held up', async () => {
  const [one, two] = [await givenApp(app), await givenApp(app)]
  const answers = [await token(one), await token(one), await token(one)]

  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 403]
  )
  assert.equal(answers[2]!.json().errors[0].code, 99)
  assert.deepEqual(
    answers.map(({ headers }) => headers['x-rate-limit-remaining']),
    ['1', '0', '0']
  )
  assert.match(String(answers[2]!.headers['retry-after']), /^[1-9]\d{0,2}$/)
  assert.equal((await token(two)).statusCode, 200)
})

test('too many requests are told in the words of each protocol', async () => {
  const client = 'client_id=somebody&grant_type=refresh_token&refresh_token=x'
  const signed = {
    authorization:
      'OAuth oauth_consumer_key="k", oauth_signature="s", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1", oauth_nonce="n", oauth_version="1.0"'
  }
  const last = async (url: string, options?: object) => {
    await ask(url, options)
    await ask(url, options)
    return ask(url, options)
  }

  const oauth2 = await last('/2/oauth2/token', { payload: client })
  const oauth1 = await last('/oauth/request_token', signed)
  const nobody = await last('/2/oauth2/revoke')
  const page = await last('/oauth/authorize?oauth_token=x')

  assert.deepEqual(
    [oauth2, oauth1, nobody, page].map(({ statusCode }) => statusCode),
    [429, 429, 429, 429]
  )
  assert.deepEqual(oauth2.json(), {
    error: 'temporarily_unavailable',
    error_description: 'Too many requests; try again later.'
  })
  assert.deepEqual(oauth1.json(), { errors: [{ code: 88, message: 'Rate limit exceeded' }] })
  assert.match(page.body, /Too many requests/)
})

test('naming other apps does not help: an address has a limit of its own', async () => {
  const strict = await limits('oauth.address=3')
  const answers = []
  for (const name of ['a', 'b', 'c', 'd'])
    answers.push(await token({ consumer_key: name, consumer_secret: 'wrong' }, strict))

  assert.deepEqual(
    answers.map(({ headers }) => headers['retry-after'] !== undefined),
    [false, false, false, true]
  )
})
