import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { type Consumer, presets, startConsumer } from './consumer.ts'

function ask({ port, host, ca }: Consumer, path: string, method = 'GET', body = '') {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = https.request({ host: '127.0.0.1', port, servername: host, ca, path, method }, async (res) => {
      try {
        resolve({ status: res.statusCode ?? 0, body: await text(res) })
      } catch (error) {
        reject(error)
      }
    })
    request.on('error', reject)
    request.end(body)
  })
}

test('answers a CRC with the HMAC of its secret, and a POST with an empty 200', async (t) => {
  const consumer = await startConsumer(t, { consumerSecret: 'the secret' })

  const crc = await ask(consumer, '/hook?crc_token=abc%2B1')
  const post = await ask(consumer, '/hook', 'POST', '{"a":1}')

  const expected = createHmac('sha256', 'the secret').update('abc+1').digest('base64')
  assert.deepEqual(JSON.parse(crc.body), { response_token: `sha256=${expected}` })
  assert.deepEqual(post, { status: 200, body: '' })
  assert.deepEqual(
    consumer.requests.map(({ method, url, body }) => ({ method, url, body: String(body) })),
    [
      { method: 'GET', url: '/hook?crc_token=abc%2B1', body: '' },
      { method: 'POST', url: '/hook', body: '{"a":1}' }
    ]
  )
})

test('changes its behaviour while it runs', async (t) => {
  const consumer = await startConsumer(t, { behaviour: presets.status(503, { 'retry-after': '7' }, 'busy') })

  assert.deepEqual(await ask(consumer, '/'), { status: 503, body: 'busy' })
  consumer.respond(presets.notJson)
  assert.match((await ask(consumer, '/?crc_token=1')).body, /^<h1>/)
  consumer.respond(presets.wrongToken)
  const right = createHmac('sha256', consumer.consumerSecret).update('1').digest('base64')
  assert.notEqual(JSON.parse((await ask(consumer, '/?crc_token=1')).body).response_token, `sha256=${right}`)
  consumer.respond(presets.hugeBody(200_000))
  assert.equal((await ask(consumer, '/')).body.length, 200_000)
})

test('counts the requests that are open at once', async (t) => {
  const waiting: (() => void)[] = []
  const consumer = await startConsumer(t, { behaviour: (_, res) => void waiting.push(() => res.end()) })

  const asked = Promise.all([ask(consumer, '/1'), ask(consumer, '/2'), ask(consumer, '/3')])
  await consumer.received(3)

  assert.equal(consumer.inFlight, 3)
  for (const answer of waiting) answer()
  await asked
  consumer.respond(presets.ok)
  await ask(consumer, '/4')
  assert.equal(consumer.inFlightMax, 3)
})

test('resets a connection in the middle of a body', async (t) => {
  const consumer = await startConsumer(t, { behaviour: presets.reset })

  await assert.rejects(ask(consumer, '/'), { code: 'ECONNRESET' })
})
