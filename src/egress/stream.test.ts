import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Behaviour, presets, startConsumer } from '../../test/consumer.ts'
import { assertFailure, DEADLINE_MS, egressTo, endsByDeadline, HOST, memoryGrowth } from '../../test/egress.ts'
import type { EgressError, StreamRequest, StreamResponse } from './index.ts'

const MB = 1024 * 1024

async function streamFrom(t: TestContext, behaviour: Behaviour, plain = false) {
  const consumer = await startConsumer(t, { behaviour, plain })
  const egress = egressTo(t, consumer.port, { connectionsPerTargetMax: 2 })
  const get = (more: Partial<StreamRequest> = {}) =>
    egress.stream({
      url: `${plain ? 'http' : 'https'}://${HOST}/feed.csv`,
      method: 'GET',
      idleMs: DEADLINE_MS,
      bytesMax: 8 * 1024 * MB,
      decompress: true,
      decompressedBytesMax: 8 * 1024 * MB,
      schemes: ['http', 'https'],
      ...more
    })
  const open = async (more?: Partial<StreamRequest>): Promise<StreamResponse> => {
    const outcome = await get(more)
    assert.equal(outcome.kind, 'response', JSON.stringify(outcome))
    return outcome as StreamResponse
  }
  return { consumer, get, open }
}

/** Reads to the end; how the body ended. */
async function drain({ body }: StreamResponse) {
  let bytes = 0
  try {
    for await (const chunk of body) bytes += chunk.length
    return { bytes, code: 'END' }
  } catch (error) {
    return { bytes, code: (error as EgressError).code, class: (error as EgressError).class }
  }
}

const untilClosed = async (consumer: { connectionsOpen: number }) => {
  while (consumer.connectionsOpen > 0) await wait(5)
}

test('streams a body and uses the connection again', async (t) => {
  const { consumer, open } = await streamFrom(t, presets.hugeBody(3 * MB))

  for (let i = 0; i < 3; i++) {
    const response = await open({ idleMs: 5_000 })
    assert.equal(response.status, 200)
    assert.equal(response.headers['content-length'], String(3 * MB))
    assert.deepEqual(await drain(response), { bytes: 3 * MB, code: 'END' })
  }

  assert.equal(consumer.connections, 1)
  assert.equal(consumer.requests[0]?.headers['accept-encoding'], 'gzip')
})

test('streams over plain http when the caller allows it', async (t) => {
  const { open, get } = await streamFrom(t, presets.hugeBody(1000), true)

  assert.deepEqual(await drain(await open()), { bytes: 1000, code: 'END' })
  assertFailure(await get({ schemes: ['https'] }), { class: 'refused', code: 'EGRESS_REFUSED_URL' })
})

test('passes 1 GB through in bounded memory', async (t) => {
  const { open } = await streamFrom(t, presets.hugeBody(1024 * MB), true)

  const growth = await memoryGrowth(async () => {
    assert.deepEqual(await drain(await open()), { bytes: 1024 * MB, code: 'END' })
  })

  assert.ok(growth < 120 * MB, `${growth} bytes more`)
})

test('reads no faster than the caller', async (t) => {
  let written = 0
  const { open } = await streamFrom(t, (_, res) => {
    const chunk = Buffer.alloc(64 * 1024)
    const write = () => {
      while (!res.destroyed) {
        written += chunk.length
        if (!res.write(chunk)) return void res.once('drain', write)
      }
    }
    write()
  })

  const { body } = await open()
  let before = -1
  while (before !== written) {
    before = written
    await wait(DEADLINE_MS + 50) // Longer than idleMs: a caller who does not read is not an idle target.
  }

  assert.ok(written < 32 * MB, `${written} bytes were sent to a caller who read nothing`)
  assert.equal(body.destroyed, false)
  body.destroy()
})

test('stops the transfer when the caller has enough', async (t) => {
  const { consumer, open } = await streamFrom(t, presets.endlessChunks)

  for await (const chunk of (await open()).body) {
    assert.ok(chunk.length > 0)
    break
  }
  await untilClosed(consumer)

  const { body } = await open()
  body.destroy()
  await untilClosed(consumer)
})

test('unpacks gzip', async (t) => {
  const text = Buffer.from('id,title\n'.repeat(100_000))
  const { open } = await streamFrom(t, (_, res) => {
    res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  })

  const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex')
  assert.equal(hash(await buffer((await open()).body)), hash(text))
  assert.equal(hash(await buffer((await open({ decompress: false })).body)), hash(gzipSync(text)))
})

test('a gzip bomb ends at the limit', async (t) => {
  const { consumer, open } = await streamFrom(t, presets.gzipBomb)

  let result: Awaited<ReturnType<typeof drain>> | undefined
  const growth = await memoryGrowth(async () => {
    result = await drain(await open({ decompressedBytesMax: 5 * MB }))
  })

  assert.equal(result?.code, 'TOO_LARGE')
  assert.equal(result?.class, 'definitive')
  assert.ok(result.bytes <= 5 * MB)
  assert.ok(growth < 60 * MB, `${growth} bytes more`)
  await untilClosed(consumer)
})

test('broken or cut gzip, and an encoding nobody offered, are definitive', async (t) => {
  const whole = gzipSync(Buffer.alloc(1_000_000, 'a,b\n'))
  const as =
    (encoding: string, body: Buffer): Behaviour =>
    (_, res) =>
      void res.writeHead(200, { 'content-encoding': encoding }).end(body)
  const { consumer, get, open } = await streamFrom(t, as('gzip', Buffer.from('this is no gzip at all')))

  assert.equal((await drain(await open())).code, 'ENCODING')
  consumer.respond(as('gzip', whole.subarray(0, whole.length / 2)))
  assert.equal((await drain(await open())).code, 'ENCODING')
  consumer.respond(as('br', whole))
  assertFailure(await get(), { class: 'definitive', code: 'ENCODING' })
  consumer.respond(as('identity', whole))
  assert.equal((await drain(await open())).bytes, whole.length)
})

test('more bytes than allowed end it: at once when announced, at the limit when not', async (t) => {
  const { consumer, get, open } = await streamFrom(t, presets.hugeBody(10 * MB))

  const announced = await get({ bytesMax: MB })
  consumer.respond(presets.endlessChunks)
  const result = await drain(await open({ bytesMax: MB }))

  assertFailure(announced, { class: 'definitive', code: 'TOO_LARGE', phase: 'body' })
  assert.equal(announced.status, 200)
  assert.deepEqual([result.code, result.class], ['TOO_LARGE', 'definitive'])
  assert.ok(result.bytes <= MB)
  await untilClosed(consumer)
})

test('a HEAD request may learn of any length', async (t) => {
  const { open } = await streamFrom(t, (_, res) => void res.writeHead(200, { 'content-length': 10 * MB }).end())

  const response = await open({ method: 'HEAD', bytesMax: 1 })

  assert.equal(response.headers['content-length'], String(10 * MB))
  assert.deepEqual(await drain(response), { bytes: 0, code: 'END' })
})

test('a target that falls silent ends after the idle time, before and within the body', async (t) => {
  const { consumer, get, open } = await streamFrom(t, presets.stall)

  assertFailure(await endsByDeadline(() => get()), { class: 'transient', code: 'TIMEOUT', phase: 'headers' })
  consumer.respond((_, res) => void res.writeHead(200).write('some'))
  const result = await endsByDeadline(async () => drain(await open()))
  assert.deepEqual(result, { bytes: 4, code: 'TIMEOUT', class: 'transient' })
})

test('a drip ends by the deadline, in the headers and in the body', async (t) => {
  const { consumer, get, open } = await streamFrom(t, presets.headerDrip)
  const more = { deadlineMs: DEADLINE_MS, idleMs: 5_000 }

  assertFailure(await endsByDeadline(() => get(more)), { class: 'transient', code: 'TIMEOUT', phase: 'headers' })
  consumer.respond(presets.bodyDrip)
  const result = await endsByDeadline(async () => drain(await open(more)))
  assert.deepEqual([result.code, result.class], ['TIMEOUT', 'transient'])
})

test('a reset in the middle fails the body, also when nobody is reading it', async (t) => {
  const { consumer, open } = await streamFrom(t, presets.reset)

  const result = await drain(await open())
  assert.deepEqual(result, { bytes: 500, code: 'RESET', class: 'transient' })
  const { body } = await open()
  await untilClosed(consumer)
  await wait(10)
  assert.equal((body.errored as EgressError | null)?.code, 'RESET')
})

test('can be given up by a signal in the middle of the body', async (t) => {
  const { open } = await streamFrom(t, presets.endlessChunks)
  const controller = new AbortController()

  const response = await open({ signal: controller.signal })
  response.body.once('data', () => controller.abort())

  assert.equal((await drain(response)).code, 'ABORTED')
})

test('a redirect is an answer for a download, too', async (t) => {
  const { consumer, open } = await streamFrom(t, presets.redirect(`https://${HOST}/other`))

  const response = await open()

  assert.deepEqual([response.status, response.headers.location], [302, `https://${HOST}/other`])
  assert.equal((await drain(response)).code, 'END')
  assert.equal(consumer.requests.length, 1)
})
