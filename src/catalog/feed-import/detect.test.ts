import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFormat, type FeedFormat } from './detect.ts'

const csv = 'id,title,description\n1,a,b\n'
const tsv = csv.replaceAll(',', '\t')
const xml = '<?xml version="1.0"?>\n<rss version="2.0">'

const fits: [format: FeedFormat, head: string][] = [
  ['CSV', csv],
  ['CSV', `\uFEFF${csv}`],
  ['CSV', '"id","title"\r\n'],
  ['CSV', ''],
  ['CSV', 'sku;name\n'],
  ['TSV', tsv],
  ['TSV', 'id\ttitle, long\n'],
  ['XML', xml],
  ['XML', `\uFEFF \n${xml}`],
  ['XML', '<feed xmlns="http://www.w3.org/2005/Atom">']
]

for (const [format, head] of fits) {
  test(`takes ${JSON.stringify(head)} for ${format}`, () => checkFormat(Buffer.from(head), format))
}

const mismatches: [format: FeedFormat, head: string | Buffer, message: RegExp][] = [
  ['CSV', xml, /looks like XML, but the feed says CSV\. Change feed_format to XML/],
  ['TSV', xml, /looks like XML, but the feed says TSV/],
  ['CSV', tsv, /looks like TSV, but the feed says CSV/],
  ['TSV', csv, /looks like CSV, but the feed says TSV/],
  ['XML', csv, /looks like CSV, but the feed says XML/],
  ['XML', '<!DOCTYPE html><html>', /web page/],
  ['CSV', '\n<html lang="en">', /web page/],
  ['CSV', '[{"id":"1"}]', /is JSON/],
  ['XML', '{"products":[]}', /is JSON/],
  ['CSV', Buffer.from('504b030414000600', 'hex'), /ZIP archive or an Excel workbook/],
  ['CSV', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /Excel/],
  ['CSV', '%PDF-1.7', /PDF/],
  ['XML', Buffer.from('28b52ffd04', 'hex'), /zstd/],
  ['CSV', Buffer.from('1f8b0800', 'hex'), /compressed twice/],
  ['CSV', Buffer.from('\uFEFFid,title', 'utf16le'), /UTF-16/],
  ['CSV', Buffer.from('\uFEFFid,title', 'utf16le').swap16(), /UTF-16/],
  ['XML', Buffer.from('<rss>', 'utf16le'), /UTF-16/]
]

for (const [format, head, message] of mismatches) {
  test(`tells that ${JSON.stringify(head.toString('latin1').slice(0, 24))} is not ${format}`, () => {
    assert.throws(() => checkFormat(Buffer.from(head), format), { name: 'FeedError', message })
  })
}
