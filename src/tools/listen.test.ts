import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { createEgress, type Egress } from '../egress/index.ts'
import { createAuthority, issueCertificate } from './certificates.ts'
import { type Received, startReceiver } from './listen.ts'
import { type Behaviour, behaviourOf, describeBehaviour, KEYS } from './listen-behaviour.ts'
import { announceListener, findListener, LISTEN_HOST, listenCertificate, mayReachListener } from './listen-files.ts'
import { printReceived, titleOf } from './listen-print.ts'
import { crcAnswer, verifySignature, verifyStandard } from './listen-verify.ts'

const SECRET = 'demo-consumer-secret'
const BODY =
  '{"data":{"event_uuid":"1","filter":{"user_id":"42"},"event_type":"profile.update.bio","payload":{"before":"a","after":"b"}}}'
const SIGNED = 'sha256=VeL04/yVBB4oPtQDK7lbtqThSKP3irGKSQv/akb+Vlc='
const QUERY = 'crc_token=dGVzdC1jcmMtdG9rZW4tMDE&nonce=bm9uY2UtMDAx'

const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-listen-'))
after(() => rm(dataDir, { recursive: true, force: true }))

async function given(t: TestContext, behaviour: Behaviour = { kind: 'ok' }) {
  const received: Received[] = []
  const receiver = await startReceiver({
    ...{ port: 0, path: '/hook', secret: SECRET, signatureHeader: 'x-svc-webhooks-signature', behaviour },
    certificate: await listenCertificate(dataDir, Date.now()),
    now: () => Date.now(),
    received: (request) => void received.push(request)
  })
  const withdraw = await announceListener(dataDir, receiver.port)
  const egress = createEgress({
    ...{ allowPrivate: false, resolve: new Map(), connectionsPerTargetMax: 4 },
    findReceiver: findListener(dataDir)
  })
  t.after(async () => {
    await egress.close()
    await withdraw()
    await receiver.close()
  })
  return { receiver, received, egress }
}

const base = { deadlineMs: 5_000, responseBytesMax: 4096 }
const post = (egress: Egress, headers: Record<string, string> = {}, body = BODY, deadlineMs = 5_000) =>
  egress.send({ ...base, deadlineMs, url: `https://${LISTEN_HOST}/hook`, method: 'POST', headers, body })
const challenge = (egress: Egress, deadlineMs = 5_000) =>
  egress.send({
    ...base,
    deadlineMs,
    url: `https://${LISTEN_HOST}/hook?${QUERY}`,
    method: 'GET',
    headers: { 'x-svc-webhooks-signature': 'sha256=6Ls+Y6sQaY5b6dk1ZovKBYkv4StnmZLVGiwGZ9P28oc=' }
  })
const outcome = (result: Awaited<ReturnType<Egress['send']>>) =>
  result.kind === 'response' ? result.status : result.code

test('computes and checks the published test vectors', () => {
  assert.equal(crcAnswer(SECRET, 'dGVzdC1jcmMtdG9rZW4tMDE'), 'sha256=5gxLXKXgz1UK96D2GtBKkh8k2+HBF5rXXLuFbQrFri8=')
  assert.equal(verifySignature('sha256=6Ls+Y6sQaY5b6dk1ZovKBYkv4StnmZLVGiwGZ9P28oc=', SECRET, QUERY), 'good')
  assert.equal(verifySignature(SIGNED, SECRET, BODY), 'good')
  assert.equal(verifySignature(SIGNED, SECRET, `${BODY} `), 'bad')
  assert.equal(verifySignature(SIGNED, 'another', BODY), 'bad')
  assert.equal(verifySignature(undefined, SECRET, BODY), 'missing')
  assert.equal(verifySignature('sha256=', SECRET, BODY), 'bad')
})

test('accepts any of several standard signatures, and nothing less', () => {
  const good = 'v1,hQaF4AQ+5e4UJfLxrDgB+Q9uioDc/Rd0+DDIBM7xaJI='
  const headers = { 'webhook-id': '7', 'webhook-timestamp': '1768478400', 'webhook-signature': good }
  const expected = verifyStandard(headers, SECRET, Buffer.from('{"n":1}'))
  // The vector is computed with another tool: printf '7.1768478400.{"n":1}' | openssl dgst -sha256 -hmac … -binary | base64.
  assert.equal(expected, 'good')
  const check = (more: object) => verifyStandard({ ...headers, ...more }, SECRET, Buffer.from('{"n":1}'))
  assert.equal(check({ 'webhook-signature': `v1,AAAA ${good}` }), 'good')
  assert.equal(check({ 'webhook-signature': 'v1,AAAA' }), 'bad')
  assert.equal(check({ 'webhook-timestamp': '1768478401' }), 'bad')
  assert.equal(check({ 'webhook-id': undefined }), 'missing')
})

test('answers a CRC, acknowledges events, and says what it saw of them', async (t) => {
  const { received, egress } = await given(t)

  const crc = await challenge(egress)
  const first = await post(egress, { 'x-svc-webhooks-signature': SIGNED, 'webhook-id': '7' })
  await post(egress, { 'x-svc-webhooks-signature': 'sha256=wrong', 'webhook-id': '7' })
  await post(egress, {}, '{"n":9007199254740993}')
  const elsewhere = await egress.send({ ...base, url: `https://${LISTEN_HOST}/`, method: 'POST', body: '{}' })

  assert.equal(
    crc.kind === 'response' && crc.body.toString(),
    `{"response_token":"${crcAnswer(SECRET, 'dGVzdC1jcmMtdG9rZW4tMDE')}"}`
  )
  assert.equal(outcome(first), 200)
  assert.equal(outcome(elsewhere), 404)
  assert.deepEqual(
    received.map(({ what, signature, repeated, answer }) => [what, signature, repeated, answer]),
    [
      ['crc', 'good', 0, 200],
      ['event', 'good', 0, 200],
      ['event', 'bad', 1, 200],
      ['event', 'missing', 0, 200],
      ['other', 'missing', 0, 404]
    ]
  )
  assert.match(JSON.stringify(received[3]), /"body":\{"n":9007199254740993\}/)
})

const behaviours: [Behaviour, crc: number | string, event: number | string][] = [
  [{ kind: 'slow', ms: 50 }, 200, 200],
  [{ kind: 'slow', ms: 60_000 }, 'TIMEOUT', 'TIMEOUT'],
  [{ kind: 'fail', status: 503 }, 503, 503],
  [{ kind: 'redirect' }, 302, 302],
  [{ kind: 'lie' }, 200, 200],
  [{ kind: 'stall' }, 'TIMEOUT', 'TIMEOUT']
]

test('misbehaves as it is told, and changes while it runs', async (t) => {
  const { receiver, egress } = await given(t)

  for (const [behaviour, crc, event] of behaviours) {
    receiver.behaviour = behaviour
    const deadlineMs = crc === 'TIMEOUT' ? 300 : 5_000
    const [challenged, posted] = await Promise.all([challenge(egress, deadlineMs), post(egress, {}, BODY, deadlineMs)])
    assert.deepEqual([outcome(challenged), outcome(posted)], [crc, event], JSON.stringify(behaviour))
    if (behaviour.kind === 'lie' && challenged.kind === 'response')
      assert.notEqual(challenged.body.toString().slice(19, -2), crcAnswer(SECRET, 'dGVzdC1jcmMtdG9rZW4tMDE'))
  }
})

test('keeps its certificate, the key for its owner alone, and makes a new one before it ends', async () => {
  const directory = path.join(dataDir, 'fresh')
  const first = await listenCertificate(directory, Date.now())
  const again = await listenCertificate(directory, Date.now())
  const later = await listenCertificate(directory, Date.now() + 360 * 86_400_000)
  await writeFile(path.join(directory, 'listen-ca.pem'), createAuthority({ name: 'Nobody' }).certPem)
  const mended = await listenCertificate(directory, Date.now())

  assert.deepEqual(again, first)
  assert.notEqual(later.certPem, first.certPem)
  assert.notEqual(mended.certPem, later.certPem)
  const mode = async (name: string) => (await stat(path.join(directory, name))).mode & 0o777
  assert.equal(await mode('listen-key.pem'), 0o600)
  assert.equal(await mode('listen-ca.pem'), 0o644)
})

test('its authority vouches for its name alone, and only while it listens', async (t) => {
  const { receiver, egress } = await given(t)
  const authority = createAuthority({ name: 'Somebody else' })
  const impostor = await startReceiver({
    ...{ port: 0, path: '/hook', secret: SECRET, signatureHeader: 'x', behaviour: { kind: 'ok' } as const },
    certificate: issueCertificate(authority, { hosts: [LISTEN_HOST] }),
    now: () => 0,
    received: () => assert.fail('nothing may arrive here')
  })
  t.after(() => impostor.close())
  const find = findListener(dataDir)
  const send = (url: string, schemes: ('http' | 'https')[] = ['https']) =>
    egress.send({ ...base, url, schemes, method: 'POST', body: '{}' })

  assert.equal(outcome(await send(`https://${LISTEN_HOST.toUpperCase()}./hook`)), 200)
  for (const url of ['https://127.0.0.1/hook', `https://127.0.0.1:${receiver.port}/hook`]) {
    assert.equal(outcome(await send(url)), 'EGRESS_REFUSED_ADDRESS')
  }
  assert.equal(outcome(await send(`http://${LISTEN_HOST}/hook`, ['http'])), 'EGRESS_REFUSED_URL')
  assert.equal(await find('hooks.example.test'), undefined)
  assert.equal(await find(`x.${LISTEN_HOST}`), undefined)
  const withdraw = await announceListener(dataDir, impostor.port)
  const fresh = createEgress({
    ...{ allowPrivate: false, resolve: new Map(), connectionsPerTargetMax: 4 },
    findReceiver: find
  })
  t.after(() => fresh.close())
  assert.match(
    String(outcome(await fresh.send({ ...base, url: `https://${LISTEN_HOST}/hook`, method: 'POST' }))),
    /^TLS/
  )
  await withdraw()
  const absent = await fresh.check(`https://${LISTEN_HOST}/hook`)
  assert.match(absent.ok ? '' : absent.message, /start the receiver with npx herald listen/)
})

test('a file that is no announcement announces nothing', async () => {
  const find = findListener(dataDir)
  for (const text of ['', '{', '{"port":"9443"}', '{"port":0}', '{"port":70000}', '[]']) {
    await writeFile(path.join(dataDir, 'listen.json'), text)
    assert.equal(await find(LISTEN_HOST), null, text)
  }
  await rm(path.join(dataDir, 'listen.json'))
})

test('what one receiver announced is not withdrawn by another', async () => {
  const withdrawFirst = await announceListener(dataDir, 1_111)
  const withdrawSecond = await announceListener(dataDir, 2_222)
  await withdrawFirst()
  assert.match(await readFile(path.join(dataDir, 'listen.json'), 'utf8'), /2222/)
  await withdrawSecond()
})

test('a server reaches it on a machine of one’s own, or when told to, and never in production by itself', () => {
  const may = (HERALD_DEV_LISTENER: string, DATABASE_URL: string, HERALD_HOST: string) =>
    mayReachListener({ HERALD_DEV_LISTENER, DATABASE_URL, HERALD_HOST })

  assert.equal(may('auto', '', '127.0.0.1'), true)
  assert.equal(may('auto', '', '::1'), true)
  assert.equal(may('auto', '', '0.0.0.0'), false)
  assert.equal(may('auto', 'postgres://db/herald', '127.0.0.1'), false)
  assert.equal(may('on', 'postgres://db/herald', '0.0.0.0'), true)
  assert.equal(may('off', '', '127.0.0.1'), false)
})

test('takes one switch at a time, and only values that mean something', () => {
  assert.deepEqual(behaviourOf({}), { kind: 'ok' })
  assert.deepEqual(behaviourOf({ slow: '1m30s' }), { kind: 'slow', ms: 90_000 })
  assert.deepEqual(behaviourOf({ fail: '429' }), { kind: 'fail', status: 429 })
  assert.throws(() => behaviourOf({ slow: 'long' }), /--slow must be a duration/)
  assert.throws(() => behaviourOf({ fail: '99' }), /--fail must be a status/)
  assert.throws(() => behaviourOf({ lie: true, stall: true }), /Only one of/)
  for (const { behaviour } of KEYS) if (behaviour) assert.notEqual(describeBehaviour(behaviour), '')
})

test('prints what people want to know, with colour only where it is wanted', () => {
  const request: Received = {
    ...{ at: '2026-01-15T12:00:00.123Z', what: 'event', method: 'POST', url: '/hook', id: '7', repeated: 2, bytes: 9 },
    ...{ signature: 'good', standard: 'bad', answer: 200 },
    body: { data: { event_type: 'post.create' }, meta: { replay: true } }
  }
  const plain = printReceived(request, false)

  assert.match(
    plain,
    /^12:00:00\.123 {2}post\.create {2}7 {2}replayed {2}seen 2 times before {2}signature ✔ {2}standard ✘ wrong {2}9 bytes {2}→ 200\n/
  )
  assert.ok(!plain.includes('\u001b'))
  assert.ok(printReceived(request, true).includes('\u001b[32m'))
  assert.match(printReceived({ ...request, signature: 'bad' }, false), /pass the right one with --secret/)
  assert.equal(titleOf({ replay_job_status: { job_state: 'Complete' } }), 'replay_job_status Complete')
  assert.equal(titleOf({ tweet_create_events: [], users: {} }), 'tweet_create_events, users')
  assert.equal(titleOf('text'), 'no JSON object')
})
