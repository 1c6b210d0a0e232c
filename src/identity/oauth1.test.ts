import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  baseStringUri,
  isTimely,
  parseOAuthHeader,
  percentEncode,
  type SignableRequest,
  signatureBaseString,
  signRequest,
  verifySignature
} from './oauth1.ts'

const FORM = 'application/x-www-form-urlencoded'

/** The example of RFC 5849, section 3.4.1.1. */
const rfcRequest: SignableRequest = {
  method: 'POST',
  scheme: 'http',
  host: 'EXAMPLE.COM:80',
  rawUrl: '/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b',
  contentType: FORM,
  rawBody: 'c2&a3=2+q'
}
const rfcParameters = [
  ['oauth_consumer_key', '9djdj82h48djs9d2'],
  ['oauth_token', 'kkk9d7dh3k39sjv7'],
  ['oauth_signature_method', 'HMAC-SHA1'],
  ['oauth_timestamp', '137131201'],
  ['oauth_nonce', '7d8f3e4a'],
  ['oauth_signature', 'bYT5CMsGcbgUdFHObYMEfcx6bsw=']
] as const

test('builds the base string of the RFC’s example', () => {
  assert.equal(
    signatureBaseString(rfcRequest, rfcParameters),
    'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2' +
      '%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_' +
      'timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7'
  )
})

/** The three signed requests of RFC 5849, section 1.2. */
const rfcDance = [
  {
    name: 'temporary credentials',
    request: { method: 'POST', scheme: 'https', host: 'photos.example.net', rawUrl: '/initiate' },
    header:
      'OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131200", oauth_nonce="wIjqoS", oauth_callback="http%3A%2F%2Fprinter.example.com%2Fready", oauth_signature="74KNZJeDHnMBp0EMJ9ZHt%2FXKycU%3D"',
    tokenSecret: ''
  },
  {
    name: 'token credentials',
    request: { method: 'POST', scheme: 'https', host: 'photos.example.net', rawUrl: '/token' },
    header:
      'OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_token="hh5s93j4hdidpola", oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131201", oauth_nonce="walatlh", oauth_verifier="hfdp7dh39dks9884", oauth_signature="gKgrFCywp7rO0OXSjdot%2FIHF7IU%3D"',
    tokenSecret: 'hdhd0244k9j7ao03'
  },
  {
    name: 'a protected resource',
    request: {
      method: 'GET',
      scheme: 'http',
      host: 'photos.example.net',
      rawUrl: '/photos?file=vacation.jpg&size=original'
    },
    header:
      'OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_token="nnch734d00sl2jdk", oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131202", oauth_nonce="chapoH", oauth_signature="MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D"',
    tokenSecret: 'pfkkdhi9sl3r4s00'
  }
]

for (const { name, request, header, tokenSecret } of rfcDance) {
  test(`verifies the RFC’s request for ${name}`, () => {
    const credentials = parseOAuthHeader(header)
    assert.ok(credentials)

    assert.equal(verifySignature(request, credentials, ['kd94hf93k423kf44'], tokenSecret), true)
    assert.equal(verifySignature(request, credentials, ['kd94hf93k423kf45'], tokenSecret), false)
    assert.equal(verifySignature(request, credentials, ['kd94hf93k423kf44'], `${tokenSecret}x`), false)
    assert.equal(verifySignature({ ...request, method: 'PUT' }, credentials, ['kd94hf93k423kf44'], tokenSecret), false)
  })
}

const subscribe: SignableRequest = {
  method: 'POST',
  scheme: 'https',
  host: 'localhost:8443',
  rawUrl: '/2/account_activity/webhooks/1001/subscriptions/all'
}
const keys = { consumerKey: 'ck', consumerSecret: 'cs', token: '42-tok', tokenSecret: 'ts' }

test('signs the subscribe request with the known signature, explicit port included', () => {
  const header = signRequest(subscribe, keys, { nonce: 'n0nce', timestamp: 1_700_000_000 })

  assert.equal(parseOAuthHeader(header)?.signature, 'x4ZHeJVVlaxejckOT3nZfSWDsZQ=')
})

test('accepts HMAC-SHA256 and signatures by either secret while one is rotated', () => {
  const header = signRequest(subscribe, keys, { nonce: 'n', timestamp: 1, signatureMethod: 'HMAC-SHA256' })
  const credentials = parseOAuthHeader(header)!

  assert.equal(Buffer.from(credentials.signature, 'base64').length, 32)
  assert.equal(verifySignature(subscribe, credentials, ['new', 'cs'], 'ts'), true)
  assert.equal(verifySignature(subscribe, credentials, ['new'], 'ts'), false)
  assert.equal(verifySignature(subscribe, credentials, [], 'ts'), false)
})

test('signs form bodies and leaves JSON bodies out', () => {
  const signed = (request: SignableRequest) =>
    parseOAuthHeader(signRequest(request, keys, { nonce: 'n', timestamp: 1 }))!
  const form = { ...subscribe, contentType: `${FORM};charset=UTF-8`, rawBody: 'a=1&b=two+words' }
  const json = { ...subscribe, contentType: 'application/json', rawBody: '{"a":1}' }

  assert.equal(
    verifySignature({ ...form, rawBody: Buffer.from('b=two%20words&a=1') }, signed(form), ['cs'], 'ts'),
    true
  )
  assert.equal(verifySignature({ ...form, rawBody: 'a=2&b=two+words' }, signed(form), ['cs'], 'ts'), false)
  assert.equal(verifySignature({ ...json, rawBody: '{"a":2}' }, signed(json), ['cs'], 'ts'), true)
  assert.equal(signed(json).signature, signed(subscribe).signature)
})

test('names the address as the client saw it', () => {
  const cases = [
    ['https', 'Example.COM:443', '/A%2fb?x=1', 'https://example.com/A%2fb'],
    ['http', 'example.com:443', '/', 'http://example.com:443/'],
    ['HTTP', 'example.com:80', '', 'http://example.com/'],
    ['http', '127.0.0.1:8080', '/12/accounts', 'http://127.0.0.1:8080/12/accounts'],
    ['http', '[::1]:8081', '/12/accounts/?', 'http://[::1]:8081/12/accounts/'],
    ['https', 'api.example.com', 'http://proxy.example/2/webhooks?a=b', 'https://api.example.com/2/webhooks']
  ] as const
  for (const [scheme, host, rawUrl, expected] of cases) assert.equal(baseStringUri({ scheme, host, rawUrl }), expected)
})

test('keeps only the unreserved characters literal', () => {
  assert.equal(
    percentEncode("Ladies + Gentlemen!'()*,:-._~ ☃"),
    'Ladies%20%2B%20Gentlemen%21%27%28%29%2A%2C%3A-._~%20%E2%98%83'
  )
})

test('refuses headers that are not whole', () => {
  const whole = signRequest(subscribe, keys, { nonce: 'n', timestamp: 1 })
  assert.ok(parseOAuthHeader(whole))
  assert.ok(parseOAuthHeader(whole.replace('OAuth ', 'oauth  ').replaceAll(', ', ',')))
  for (const name of [
    'oauth_consumer_key',
    'oauth_nonce',
    'oauth_signature',
    'oauth_signature_method',
    'oauth_timestamp'
  ]) {
    assert.equal(parseOAuthHeader(whole.replace(new RegExp(`${name}="[^"]*",? ?`), '')), undefined, name)
  }
  for (const bad of [
    'Bearer abc',
    'OAuth',
    'OAuth x',
    'OAuth oauth_consumer_key=abc',
    whole.replace('HMAC-SHA1', 'PLAINTEXT'),
    whole.replace('HMAC-SHA1', 'constructor'),
    whole.replace('"1.0"', '"2.0"'),
    whole.replace('oauth_timestamp="1"', 'oauth_timestamp="1e3"'),
    `${whole}, oauth_nonce="again"`,
    whole.replace('oauth_nonce="n"', `oauth_nonce="${'n'.repeat(2001)}"`),
    whole.replace('oauth_nonce="n"', 'oauth_nonce="n%00"')
  ]) {
    assert.equal(parseOAuthHeader(bad), undefined, bad.slice(0, 80))
  }
})

test('allows a clock to be off by five minutes, not by more', () => {
  const now = 1_700_000_000_999
  for (const [offset, timely] of [
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false]
  ] as const) {
    assert.equal(isTimely(1_700_000_000 + offset, now), timely, String(offset))
  }
})

/** Written without looking at ours: WHATWG form parsing, encodeURIComponent and its five missing characters. */
function naiveBaseString(method: string, url: URL, form: URLSearchParams, oauth: [string, string][]) {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const all = [...url.searchParams, ...form, ...oauth].map(([k, v]) => [encode(k), encode(v)] as [string, string])
  all.sort(
    (a, b) =>
      Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])) || Buffer.compare(Buffer.from(a[1]), Buffer.from(b[1]))
  )
  const text = all.map((pair) => pair.join('=')).join('&')
  return [method, encode(url.origin + url.pathname), encode(text)].join('&')
}

const text = fc.string({ unit: 'binary', maxLength: 12 })
const pairs = fc.array(fc.tuple(text, text), { maxLength: 6 })

test('agrees with an independent implementation for any query, form and path', () => {
  fc.assert(
    fc.property(
      pairs,
      pairs,
      fc.webPath(),
      fc.webAuthority({ withPort: true }),
      fc.constantFrom('http', 'https'),
      fc.boolean(),
      (query, form, path, host, scheme, plusForSpace) => {
        const write = (list: [string, string][]) => {
          const written = new URLSearchParams(list).toString()
          return plusForSpace ? written : written.replaceAll('+', '%20')
        }
        const url = new URL(`${scheme}://${host}${path.startsWith('/') ? path : `/${path}`}`)
        const rawUrl = `${url.pathname}?${write(query)}`
        const oauth: [string, string][] = [
          ['oauth_nonce', 'n & o'],
          ['oauth_token', '1-~']
        ]

        const ours = signatureBaseString(
          { method: 'post', scheme, host, rawUrl, contentType: FORM, rawBody: Buffer.from(write(form)) },
          oauth
        )

        const expected = naiveBaseString('POST', new URL(url.origin + rawUrl), new URLSearchParams(write(form)), oauth)
        assert.equal(ours, expected)
      }
    ),
    { numRuns: 300 }
  )
})

test('verifies whatever it signed, and nothing that was changed on the way', () => {
  fc.assert(
    fc.property(pairs, text, text, fc.stringMatching(/^[^\0]{0,12}$/u), (query, consumerSecret, tokenSecret, nonce) => {
      const request = { ...subscribe, rawUrl: `/x?${new URLSearchParams(query)}` }
      const header = signRequest(
        request,
        { ...keys, consumerSecret, tokenSecret },
        { nonce: `n${nonce}`, timestamp: 7 }
      )
      const credentials = parseOAuthHeader(header)!

      assert.equal(verifySignature(request, credentials, [consumerSecret], tokenSecret), true)
      const changed = { ...request, rawUrl: `${request.rawUrl}&z=1` }
      assert.equal(verifySignature(changed, credentials, [consumerSecret], tokenSecret), false)
    }),
    { numRuns: 100 }
  )
})

test('signs bytes that are not UTF-8 as the bytes they are', () => {
  const request = { ...subscribe, rawUrl: '/x?a=%ff%FE', contentType: FORM, rawBody: Buffer.from([0x62, 0x3d, 0xff]) }
  const base = signatureBaseString(request, [])

  assert.equal(base.split('&')[2], 'a%3D%25FF%25FE%26b%3D%25FF')
  const signature = createHmac('sha1', 'cs&ts').update(base).digest('base64')
  const credentials = { ...parseOAuthHeader(signRequest(request, keys, { nonce: 'n', timestamp: 1 }))! }
  credentials.parameters = new Map()
  assert.equal(verifySignature(request, { ...credentials, signature }, ['cs'], 'ts'), true)
})
