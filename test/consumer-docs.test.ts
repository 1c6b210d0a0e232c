/** docs/consumers.md: what it shows is what these files hold, and they do what it says. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { answerCrc, isSigned, isSignedStandard } from '../docs/consumers/verify.ts'

const docs = path.resolve(import.meta.dirname, '../docs')
const SECRET = 'demo-consumer-secret'

/** The table "Test vectors" of the page. */
const page = await readFile(path.join(docs, 'consumers.md'), 'utf8')
const vectors = page
  .slice(page.indexOf('## Test vectors'))
  .split('\n')
  .filter((line) => /^\| .*`/.test(line))
  .map((line) => Array.from(line.matchAll(/`([^`]+)`/g), ([, value]) => value!))
const [crc, query, body, standard] = vectors as [string[], string[], string[], string[]]
const [, , crcToken, responseToken] = crc as [string, string, string, string]
const [queryText, querySignature] = query as [string, string]
const [bodyText, bodySignature] = body as [string, string]
const [, id, timestamp, standardBody, standardSignature] = standard as [string, string, string, string, string]

const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,old ${standardSignature}` }

test('the page shows the files, word for word', async () => {
  for (const name of ['verify.ts', 'server.ts', 'verify.py', 'server.py']) {
    const text = (await readFile(path.join(docs, 'consumers', name), 'utf8')).trimEnd()
    const language = name.endsWith('.ts') ? 'ts' : 'python'
    assert.ok(page.includes(`\`\`\`${language}\n${text}\n\`\`\``), `docs/consumers.md does not show ${name} as it is`)
  }
  assert.equal(vectors.length, 4)
})

test('the TypeScript snippet meets the test vectors', () => {
  assert.equal(answerCrc(SECRET, crcToken), responseToken)
  assert.ok(isSigned(SECRET, querySignature, queryText))
  assert.ok(isSigned(SECRET, bodySignature, Buffer.from(bodyText)))
  assert.ok(!isSigned(SECRET, bodySignature, Buffer.from(`${bodyText}\n`)))
  assert.ok(!isSigned('another', bodySignature, bodyText))
  assert.ok(!isSigned(SECRET, undefined, bodyText))
  const raw = Buffer.from(standardBody)
  const now = Number(timestamp)
  assert.ok(isSignedStandard(SECRET, headers, raw, now + 299))
  assert.ok(!isSignedStandard(SECRET, headers, raw, now + 301))
  assert.ok(!isSignedStandard(SECRET, headers, Buffer.from('{"n":2}'), now))
  assert.ok(!isSignedStandard(SECRET, { ...headers, 'webhook-timestamp': 'soon' }, raw, now))
  assert.ok(!isSignedStandard(SECRET, {}, raw, now))
  for (const forged of [bodyText, '{"data":{}}', 'short', '']) assert.throws(() => answerCrc(SECRET, forged))
})

const python = spawnSync('python3', ['--version']).status === 0
const skip = python ? false : 'python3 is not installed, so the Python snippets are not run here'

test('the Python snippet meets the test vectors', { skip }, () => {
  const program = `
import json, sys
from verify import answer_crc, is_signed, is_signed_standard
v = json.load(sys.stdin)
S = v["secret"]
def refuses(token):
    try:
        answer_crc(S, token)
    except ValueError:
        return True
    return False
raw, now = v["standardBody"].encode(), int(v["timestamp"])
print(json.dumps([
    answer_crc(S, v["crcToken"]) == v["responseToken"],
    is_signed(S, v["querySignature"], v["queryText"].encode()),
    is_signed(S, v["bodySignature"], v["bodyText"].encode()),
    not is_signed(S, v["bodySignature"], v["bodyText"].encode() + b"\\n"),
    not is_signed("another", v["bodySignature"], v["bodyText"].encode()),
    not is_signed(S, None, b""),
    is_signed_standard(S, v["headers"], raw, now + 299),
    not is_signed_standard(S, v["headers"], raw, now + 301),
    not is_signed_standard(S, v["headers"], b"{}", now),
    not is_signed_standard(S, {**v["headers"], "webhook-timestamp": "soon"}, raw, now),
    not is_signed_standard(S, {}, raw, now),
    refuses(v["bodyText"]) and refuses("") and refuses("short") and refuses("a" * 20 + "\\n"),
]))`
  const input = {
    ...{ secret: SECRET, crcToken, responseToken, queryText, querySignature, bodyText, bodySignature },
    ...{ standardBody, timestamp, headers }
  }
  const { stdout, stderr } = spawnSync('python3', ['-B', '-c', program], {
    cwd: path.join(docs, 'consumers'),
    input: JSON.stringify(input),
    encoding: 'utf8'
  })
  assert.deepEqual(stdout && JSON.parse(stdout), Array(12).fill(true), stderr)
})

/** What a consumer at this address does with what Herald sends. */
async function behavesWell(base: string) {
  const post = (signature: string) =>
    fetch(base, {
      method: 'POST',
      headers: { 'x-svc-webhooks-signature': signature, 'webhook-id': '1', 'content-type': 'application/json' },
      body: bodyText
    })

  const challenged = await fetch(`${base}?${queryText}`)
  assert.deepEqual([challenged.status, await challenged.json()], [200, { response_token: responseToken }])
  assert.equal((await fetch(`${base}?crc_token=${encodeURIComponent(bodyText)}`)).status, 400)
  assert.equal((await post(bodySignature)).status, 200)
  assert.equal((await post(bodySignature)).status, 200)
  assert.equal((await post('sha256=nonsense')).status, 401)
}

test('the consumer in TypeScript answers CRCs, takes what is signed and refuses the rest', async (t) => {
  process.env.CONSUMER_SECRET = SECRET
  const { server } = await import('../docs/consumers/server.ts')
  const printed = t.mock.method(console, 'log', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())

  await behavesWell(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)

  assert.equal(printed.mock.callCount(), 1, 'what comes twice is handled once')
})

test('the consumer in Python does the same', { skip }, async (t) => {
  const child = spawn('python3', ['-B', 'server.py'], {
    cwd: path.join(docs, 'consumers'),
    env: { ...process.env, CONSUMER_SECRET: SECRET, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  t.after(() => child.kill())
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  while (!/listening on \d+/.test(output)) await once(child.stdout, 'data')

  await behavesWell(`http://127.0.0.1:${/listening on (\d+)/.exec(output)![1]}/hook`)

  assert.equal(output.match(/event_uuid/g)?.length, 1, 'what comes twice is handled once')
})
