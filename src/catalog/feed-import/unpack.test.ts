import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { UNPACK_LIMITS, unpackFeed } from './unpack.ts'

const csv = Buffer.from(
  `id,title,price\n${Array.from({ length: 2000 }, (_, i) => `${i},Shoes ${i * 7919},${i}.00 USD\n`).join('')}`
)

async function* chunksOf(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function unpack(bytes: Buffer, size = 1000, limits = UNPACK_LIMITS) {
  const chunks: Buffer[] = []
  for await (const chunk of unpackFeed(chunksOf(bytes, size), 'CSV', limits)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('gives plain and gzipped files alike, in chunks of any size', async () => {
  for (const size of [5, 1000, 1_000_000]) {
    assert.ok((await unpack(csv.subarray(0, 6000), size)).equals(csv.subarray(0, 6000)))
    assert.ok((await unpack(gzipSync(csv), size)).equals(csv))
  }
})

test('gives a gzip file of several members whole', async () => {
  assert.ok((await unpack(Buffer.concat([gzipSync(csv), gzipSync(csv)]))).equals(Buffer.concat([csv, csv])))
})

test('gives an empty file as no bytes', async () => {
  assert.equal((await unpack(Buffer.alloc(0))).length, 0)
  assert.equal((await unpack(gzipSync(''))).length, 0)
})

test('looks at the format behind the packing', async () => {
  await assert.rejects(unpack(gzipSync('<rss version="2.0"></rss>')), {
    code: 'WRONG_FORMAT',
    message: /looks like XML/
  })
  await assert.rejects(unpack(gzipSync(gzipSync(csv))), { code: 'WRONG_FORMAT', message: /compressed twice/ })
})

test('stops at a gzip file that breaks off or is damaged', async () => {
  const packed = gzipSync(csv)
  await assert.rejects(unpack(packed.subarray(0, -20)), { code: 'BROKEN_GZIP', message: /breaks off/ })
  const damaged = Buffer.from(packed)
  damaged.fill(0xff, 2000, 2100)
  await assert.rejects(unpack(damaged), { code: 'BROKEN_GZIP' })
})

test('stops a gzip bomb early', async () => {
  const limits = { ...UNPACK_LIMITS, ratioFromBytes: 1024 ** 2 }
  const bomb = gzipSync(Buffer.concat([Buffer.from('id,title\n'), Buffer.alloc(30 * 1024 ** 2, 'x')]))
  let unpacked = 0
  const reading = async () => {
    for await (const chunk of unpackFeed(chunksOf(bomb, 1000), 'CSV', limits)) unpacked += chunk.length
  }

  await assert.rejects(reading(), { code: 'GZIP_BOMB' })
  assert.ok(unpacked < 20 * 1024 ** 2)
})

test('stops at a file that is larger than a feed may be, packed or not', async () => {
  const limits = { ...UNPACK_LIMITS, bytesMax: 10_000 }
  await assert.rejects(unpack(csv, 1000, limits), { code: 'FILE_TOO_LARGE' })
  await assert.rejects(unpack(gzipSync(csv), 1000, { ...limits, bytesMax: 40_000 }), { code: 'FILE_TOO_LARGE' })
})

test('passes on why the source failed', async () => {
  for (const content of [csv, gzipSync(csv)]) {
    async function* failing() {
      yield content.subarray(0, 5000)
      throw new Error('connection lost')
    }
    const reading = async () => {
      for await (const _ of unpackFeed(failing(), 'CSV'));
    }
    await assert.rejects(reading(), /connection lost/)
  }
})

test('closes the source when the reader stops early', async () => {
  for (const content of [csv, gzipSync(csv)]) {
    let isClosed = false
    async function* source() {
      try {
        for (;;) yield content
      } finally {
        isClosed = true
      }
    }
    for await (const _ of unpackFeed(source(), 'CSV')) break

    assert.ok(isClosed)
  }
})
