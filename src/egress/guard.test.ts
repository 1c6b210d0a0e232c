import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { presets, reaching, startConsumer } from '../../test/consumer.ts'
import { assertFailure, PUBLIC_V4, PUBLIC_V6, post } from '../../test/egress.ts'
import { createEgress, type Egress, type EgressOptions } from './index.ts'

const FORBIDDEN_V4 = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '169.254.1.1',
  '172.16.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255'
]
const FORBIDDEN_V6 = [
  '::',
  '::1',
  '::10.0.0.1',
  '::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:10.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1'
]

const literal = (address: string) => (address.includes(':') ? `[${address}]` : address)

function guard(t: TestContext, lookup: EgressOptions['lookup'], more: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allowPrivate: false, resolve: new Map(), connectionsPerTargetMax: 4, lookup, ...more })
  t.after(() => egress.close())
  return egress
}

const noLookup = async (host: string): Promise<string[]> => {
  throw new Error(`looked up ${host}`)
}

async function assertRefused(egress: Egress, url: string, code = 'EGRESS_REFUSED_ADDRESS') {
  const checked = await egress.check(url, { schemes: ['http', 'https'] })
  assert.ok(!checked.ok, `${url} passed`)
  assert.deepEqual({ class: checked.class, code: checked.code }, { class: 'refused', code }, url)
  const sent = await post(egress, { url, schemes: ['http', 'https'] })
  assertFailure(sent, { class: 'refused', code: code as 'EGRESS_REFUSED_URL' })
  const streamed = await egress.stream({
    url,
    method: 'GET',
    idleMs: 300,
    bytesMax: 10,
    decompress: false,
    decompressedBytesMax: 10,
    schemes: ['http', 'https']
  })
  assertFailure(streamed, { class: 'refused', code: code as 'EGRESS_REFUSED_URL' })
}

test('refuses every special range as a literal, without asking DNS', async (t) => {
  const egress = guard(t, noLookup)

  for (const address of [...FORBIDDEN_V4, ...FORBIDDEN_V6]) await assertRefused(egress, `https://${literal(address)}/`)
})

test('refuses every special range as the only answer, and among good ones', async (t) => {
  let answers: string[] = []
  const egress = guard(t, async () => answers, { lookupCacheMs: 0 })

  for (const address of [...FORBIDDEN_V4, ...FORBIDDEN_V6]) {
    for (answers of [
      [address],
      [PUBLIC_V4, address],
      [address, PUBLIC_V4],
      [PUBLIC_V4, PUBLIC_V6, address],
      [PUBLIC_V6, address, PUBLIC_V4]
    ]) {
      await assertRefused(egress, 'https://hooks.example.test/')
    }
  }
})

test('accepts public answers and public literals', async (t) => {
  const egress = guard(t, async () => [PUBLIC_V4, PUBLIC_V6])

  assert.deepEqual(await egress.check('https://Hooks.Example.test/a b?x=1#y'), {
    ok: true,
    url: 'https://hooks.example.test/a%20b?x=1#y',
    addresses: [PUBLIC_V4, PUBLIC_V6]
  })
  assert.ok((await egress.check(`https://${PUBLIC_V4}/`)).ok)
  assert.ok((await egress.check(`https://[${PUBLIC_V6}]/`)).ok)
})

test('an answer that is no address at all is refused', async (t) => {
  for (const answer of ['127.1', '0x7f.1', 'localhost', '', '999.1.1.1', '::1%lo', '1.1.1.1 ']) {
    await assertRefused(
      guard(t, async () => [answer]),
      'https://hooks.example.test/'
    )
  }
})

test('odd spellings of a forbidden address do not get past', async (t) => {
  const consumer = await startConsumer(t)
  const egress = guard(t, async () => ['127.0.0.1'])

  for (const host of [
    '2130706433',
    '0x7f000001',
    '0X7F.0.0.1',
    '017700000001',
    '0177.0.0.1',
    '127.1',
    '127.0.1',
    '127.0.0.1.',
    '１２７.０.０.１',
    '127。0。0。1',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
    '%6c%6f%63%61%6c%68%6f%73%74',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'ｌｏｃａｌｈｏｓｔ',
    'loc\u00adalhost',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::127.0.0.1]',
    '127.0.0.1\t',
    '127.0.\n0.1',
    'bücher.example',
    'xn--bcher-kva.example'
  ]) {
    await assertRefused(egress, `https://${host}:${consumer.port}/`)
  }
  for (const url of [
    `https:\\\\127.0.0.1:${consumer.port}\\`,
    `https:127.0.0.1:${consumer.port}`,
    ` \u0000https://127.0.0.1:${consumer.port}/ `,
    `HTTPS://127.0.0.1:${consumer.port}/`,
    `https://127.0.0.1:${consumer.port}?@example.com/`,
    `https://127.0.0.1:${consumer.port}#@example.com/`,
    `https:///127.0.0.1:${consumer.port}/`
  ]) {
    await assertRefused(egress, url)
  }
  assert.equal(consumer.connections, 0)
})

test('any forbidden IPv4 address is refused in any spelling', async (t) => {
  const egress = guard(t, noLookup)
  const part = (n: number) =>
    fc.constantFrom(`${n}`, `0x${n.toString(16)}`, `0X${n.toString(16).toUpperCase()}`, `0${n.toString(8)}`)
  const fullWidth = (text: string) => text.replace(/[0-9a-z]/gi, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))
  const encoded = (text: string) => text.replace(/[0-9]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  const spelling = fc
    .tuple(
      fc.constantFrom([10, 8], [127, 8], [0xa9fe, 16], [0xc0a8, 16], [0, 8], [0xe, 4], [0xac1, 12]),
      fc.nat(0xffffffff),
      fc.integer({ min: 1, max: 4 })
    )
    .chain(([[prefix, bits], host, partCount]) => {
      const n = prefix! * 2 ** (32 - bits!) + (host % 2 ** (32 - bits!))
      const parts = Array.from({ length: partCount - 1 }, (_, i) => Math.floor(n / 2 ** (24 - 8 * i)) % 256)
      parts.push(n % 2 ** (32 - 8 * (partCount - 1)))
      return fc.tuple(...parts.map(part)).map((texts) => texts.join('.'))
    })
    .chain((text) => fc.constantFrom(text, `${text}.`, fullWidth(text), encoded(text), text.replaceAll('.', '。')))

  await fc.assert(
    fc.asyncProperty(spelling, async (host) => {
      const checked = await egress.check(`https://${host}/`)
      assert.equal(checked.ok ? 'passed' : checked.code, 'EGRESS_REFUSED_ADDRESS', host)
    }),
    { numRuns: 500 }
  )
})

test('refuses user names, other schemes and what is no URL', async (t) => {
  const egress = guard(t, async () => [PUBLIC_V4])

  for (const url of [
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    'https://example.com@127.0.0.1/',
    'https://127.0.0.1%40example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'data:text/plain,hello',
    'javascript:alert(1)',
    'wss://example.com/',
    '//example.com/',
    '/hook',
    'example.com',
    'https://',
    'https://exa mple.com/',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
    'https://[::1/',
    'https://[fe80::1%25eth0]/',
    'https://example.com:99999/',
    `https://${'a.'.repeat(200)}test/`,
    ''
  ]) {
    await assertRefused(egress, url, 'EGRESS_REFUSED_URL')
  }
  const plain = await egress.check('http://example.com/')
  assert.equal(plain.ok ? 'passed' : plain.code, 'EGRESS_REFUSED_URL')
  assert.ok((await egress.check('http://example.com/', { schemes: ['http', 'https'] })).ok)
})

test('says why without the path, the query or the password', async (t) => {
  const egress = guard(t, async () => ['10.0.0.7'])

  const refused = await post(egress, { url: 'https://hooks.example.test/secret-path?key=secret-key' })
  const user = await post(egress, { url: 'https://me:secret-word@hooks.example.test/' })

  assertFailure(refused, { phase: 'dns' })
  assert.match(refused.message, /hooks\.example\.test leads to 10\.0\.0\.7, which is not a public address but private/)
  assertFailure(user, { phase: 'url' })
  assert.doesNotMatch(JSON.stringify([refused, user]), /secret/)
})

test('a name that is rebound after the check is refused, and nobody is connected to', async (t) => {
  const consumer = await startConsumer(t)
  let now = 0
  const answers = [[PUBLIC_V4], ['127.0.0.1']]
  const egress = guard(t, async () => answers.shift() ?? [], { monotonicNow: () => now, extraCa: consumer.ca })
  const url = `https://hooks.example.test:${consumer.port}/`

  assert.ok((await egress.check(url)).ok)
  now += 6_000
  assertFailure(await post(egress, { url }), { class: 'refused', code: 'EGRESS_REFUSED_ADDRESS' })

  assert.equal(consumer.connections, 0)
})

test('looks a name up once and connects to that answer, whatever DNS says next', async (t) => {
  const consumer = await startConsumer(t)
  const answers = [['127.0.0.1'], ['224.0.0.1'], ['224.0.0.1']]
  let lookups = 0
  const egress = guard(t, async () => answers[lookups++] ?? [], { ...reaching(), extraCa: consumer.ca })
  const url = `https://hooks.example.test:${consumer.port}/`

  const outcomes = await Promise.all([post(egress, { url }), post(egress, { url }), post(egress, { url })])

  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind === 'response' && [outcome.status, outcome.remoteAddress]),
    Array(3).fill([200, '127.0.0.1'])
  )
  assert.equal(lookups, 1)
  assert.equal(consumer.requests[0]?.headers.host, `hooks.example.test:${consumer.port}`)
})

test('judges a name again when its answer or its connection has grown old', async (t) => {
  const consumer = await startConsumer(t)
  let now = 0
  let lookups = 0
  let answer = ['127.0.0.1']
  const lookup = async () => {
    lookups++
    return answer
  }
  const egress = guard(t, lookup, { ...reaching(), extraCa: consumer.ca, monotonicNow: () => now })
  const send = () => post(egress, { url: `https://hooks.example.test:${consumer.port}/` })

  await send()
  now += 59_000
  await send()
  assert.deepEqual([lookups, consumer.connections], [1, 1])
  now += 2_000
  await send()
  assert.deepEqual([lookups, consumer.connections], [2, 2])
  now += 61_000
  answer = ['169.254.169.254']
  assertFailure(await send(), { class: 'refused', code: 'EGRESS_REFUSED_ADDRESS' })
  assert.equal(consumer.connections, 2)
})

test('a check does not wait for DNS longer than it was told to', async (t) => {
  const egress = guard(t, () => new Promise(() => {}))

  const checked = await egress.check('https://hooks.example.test/', { deadlineMs: 20 })

  assert.deepEqual(checked, {
    ok: false,
    class: 'transient',
    code: 'DNS',
    message: 'The name hooks.example.test could not be resolved within 20 ms'
  })
})

test('a refused answer is not remembered', async (t) => {
  const answers = [['10.0.0.1'], [PUBLIC_V4]]
  const egress = guard(t, async () => answers.shift() ?? [])

  assert.ok(!(await egress.check('https://hooks.example.test/')).ok)
  assert.ok((await egress.check('https://hooks.example.test/')).ok)
})

test('a mapped name is judged by the address it is mapped to', async (t) => {
  const consumer = await startConsumer(t)
  const { resolve, extraCa } = reaching(consumer)
  const careful = guard(t, noLookup, { resolve })
  const lenient = guard(t, noLookup, { resolve, extraCa, allowPrivate: true })

  assertFailure(await post(careful), { class: 'refused', code: 'EGRESS_REFUSED_ADDRESS', phase: 'dns' })
  assert.equal(consumer.connections, 0)
  assert.equal((await post(lenient)).kind, 'response')
  assert.equal((await post(lenient, { url: 'https://HOOKS.example.test./hook' })).kind, 'response')
  assert.throws(() => guard(t, noLookup, { resolve: new Map([['a.test', { address: 'b.test' }]]) }), /IP address/)
})

test('a redirect is an answer, not an order', async (t) => {
  const consumer = await startConsumer(t)
  const egress = guard(t, noLookup, reaching(consumer))

  for (const status of [301, 302, 303, 307, 308]) {
    consumer.respond(presets.redirect(`https://hooks.example.test/elsewhere`, status))
    const outcome = await post(egress)
    assert.equal(outcome.kind === 'response' && outcome.status, status)
  }

  assert.deepEqual(
    consumer.requests.map(({ url }) => url),
    Array(5).fill('/hook')
  )
})

test('allowing private addresses still refuses nonsense', async (t) => {
  const egress = guard(t, async () => ['127.0.0.1', '255.255.255.255'], { allowPrivate: true })

  for (const host of ['0.0.0.0', '[::]', '224.0.0.1', '[ff02::1]', '255.255.255.255', '169.254.169.254', 'a.test']) {
    await assertRefused(egress, `https://${host}/`)
  }
  assert.ok((await egress.check('https://10.0.0.1/')).ok)
  assert.ok((await egress.check('https://[::1]/')).ok)
  assert.ok((await egress.check('https://[::ffff:127.0.0.1]/')).ok)
})
