import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startApp } from '../../../test/app.ts'
import { type Behaviour, presets } from '../../../test/consumer.ts'
import { memoryGrowth } from '../../../test/egress.ts'
import type { Json } from '../../../test/given-ads.ts'
import { givenMerchant, givenProducts, product } from '../../../test/given-catalog.ts'
import { csv, givenFeed, runFeed, startFeedHost } from '../../../test/given-feed.ts'

const MEGABYTE = 1024 * 1024

const host = await startFeedHost({ after }, { tls: true })
const app = await startApp({ after }, { ...host.env, HERALD_LOG_LEVEL: 'silent', HERALD_FEED_REJECTED_ROWS_MAX: '100' })
const merchant = await givenMerchant(app)
await givenProducts(merchant, [product('as'), product('it'), product('was')])
const feed = await givenFeed(merchant, host.url)
const untouched = (await merchant.get('products')).data

/** Begins with `head` and goes on with `block`, as long as anybody reads, up to 1 GB; tells how much was sent. */
const endless = (head: string | Buffer, block: Buffer) => {
  const sent = { bytes: 0 }
  const behaviour: Behaviour = (_, response) => {
    response.writeHead(200).write(head)
    const write = () => {
      while (!response.destroyed && sent.bytes < 1024 * MEGABYTE) {
        sent.bytes += block.length
        if (!response.write(block)) return void response.once('drain', write)
      }
      response.end()
    }
    write()
  }
  return { behaviour, sent }
}

const header = csv([])
const good = csv([product('new'), product('it', { title: 'Changed' })])
const rss = (inside: string) =>
  `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><item>${inside}</item></channel></rss>`
const xxe = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>${rss('<g:id>&secret;</g:id>')}`
const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>${rss('<g:id>&c;</g:id>')}`
const bombRow = Buffer.from(`${'x'.repeat(4_000)}\r\n`)
const bombMember = gzipSync(Buffer.concat(Array(2_000).fill(bombRow)), { level: 9 })
const unclosed = endless(`${header}p1,"never closed`, Buffer.alloc(64 * 1024, 'x'))
const oneLine = endless('id', Buffer.alloc(64 * 1024, 'x'))
const bomb = endless(gzipSync(header), Buffer.concat(Array(20).fill(bombMember)))

const cases: [what: string, format: string, answer: Behaviour | string | Buffer, code: string, words: RegExp][] = [
  ['XXE', 'XML', xxe, 'DOCTYPE', /document type/],
  ['billion laughs', 'XML', laughs, 'DOCTYPE', /document type/],
  ['a gzip bomb', 'CSV', bomb.behaviour, 'GZIP_BOMB', /more than 250 times its size/],
  ['an unclosed quote at 1 GB', 'CSV', unclosed.behaviour, 'UNCLOSED_QUOTE', /row 2, column 2/],
  ['one line of 1 GB', 'CSV', oneLine.behaviour, 'FIELD_TOO_LONG', /longer than/],
  ['100,000 columns', 'CSV', `${header.trimEnd()}${',c'.repeat(100_000)}\r\n`, 'TOO_MANY_COLUMNS', /at most 1000/],
  ['NUL bytes', 'CSV', `${good}p9,a\0b\r\n`, 'NUL_BYTE', /row 4/],
  ['a wrong charset', 'CSV', Buffer.from(csv([product('new', { title: 'Größe' })]), 'latin1'), 'NOT_UTF8', /UTF-8/],
  ['UTF-16', 'CSV', Buffer.from(`\uFEFF${good}`, 'utf16le'), 'NOT_UTF8', /UTF-16/],
  ['a login page', 'CSV', '<!doctype html><title>Sign in</title>', 'WRONG_FORMAT', /web page/],
  ['an Excel workbook', 'CSV', Buffer.from('504b03040a000000', 'hex'), 'WRONG_FORMAT', /Excel/],
  ['broken gzip', 'CSV', gzipSync(good).subarray(0, 60), 'BROKEN_GZIP', /Publish it again/],
  ['nothing', 'CSV', '', 'EMPTY_FILE', /empty/],
  [
    'a server that stops in the middle',
    'CSV',
    ((_, response, { resetConnection }) => {
      response.writeHead(200, { 'content-length': good.length * 10 })
      response.write(good.repeat(5), resetConnection)
    }) as Behaviour,
    'FETCH_RESET',
    /closed the connection in the middle/
  ],
  ['a redirect to a private address', 'CSV', presets.redirect('http://10.0.0.1/secret'), 'REDIRECT', /final address/],
  [
    'a file that its host says has 9 GB',
    'CSV',
    ((_, response) => void response.writeHead(200, { 'content-length': 9e9 }).write(good)) as Behaviour,
    'FILE_TOO_LARGE',
    /larger than 8589934592 bytes\. Split it/
  ],
  ['"not modified" where nothing was known', 'CSV', presets.status(304), 'HTTP_STATUS', /304 instead of 200/],
  ['no permission', 'CSV', presets.status(401), 'HTTP_STATUS', /without signing in/]
]

const growth: Record<string, number> = {}
for (const [what, feed_format, answer, code, words] of cases) {
  test(`${what}: a clear report, and the catalog is as it was`, async () => {
    if (typeof answer === 'function') host.respond(answer)
    else host.serve(answer)
    await merchant.put(`scheduled_feeds/${feed.id}`, { feed_format })

    let run: Json
    growth[what] = await memoryGrowth(async () => {
      run = await runFeed(app, merchant, feed.id)
    })

    assert.deepEqual([run.state, run.error.code], ['FAILED', code], run.error?.message)
    assert.match(run.error.message, words)
    assert.deepEqual((await merchant.get('products')).data, untouched)
    const { rows } = await app.deps.database.pool.query("select from pg_class where relname like 'feed_stage_%'")
    assert.equal(rows.length, 0, 'nothing is left of it')
  })
}

test('hostile files are not read to their end, and take little memory', () => {
  for (const { sent } of [unclosed, oneLine, bomb]) assert.ok(sent.bytes < 64 * MEGABYTE, `${sent.bytes} were sent`)
  for (const [what, bytes] of Object.entries(growth))
    assert.ok(bytes < 150 * MEGABYTE, `${what} took ${Math.round(bytes / MEGABYTE)} MB`)
})

test('a private address behind a public name is refused', async (t) => {
  const guarded = await startApp(t, {
    HERALD_LOG_LEVEL: 'silent',
    HERALD_EGRESS_ALLOW_PRIVATE: '0',
    HERALD_EGRESS_RESOLVE: 'inside.example.test=127.0.0.1:1'
  })
  const shop = await givenMerchant(guarded)
  const inside = await givenFeed(shop, 'http://inside.example.test/feed.csv')

  const run = await runFeed(guarded, shop, inside.id)

  assert.deepEqual([run.state, run.error.code], ['FAILED', 'ADDRESS_REFUSED'])
  assert.doesNotMatch(run.error.message, /feed\.csv/)
})
