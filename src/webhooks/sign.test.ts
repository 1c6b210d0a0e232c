import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { signature, signedHeaders, standardSignature } from './sign.ts'

const SECRET = 'demo-consumer-secret'
const BODY =
  '{"data":{"event_uuid":"1","filter":{"user_id":"42"},"event_type":"profile.update.bio","payload":{"before":"a","after":"b"}}}'

const vectors = [
  {
    what: 'a CRC token',
    input: 'dGVzdC1jcmMtdG9rZW4tMDE',
    output: 'sha256=5gxLXKXgz1UK96D2GtBKkh8k2+HBF5rXXLuFbQrFri8='
  },
  {
    what: 'the query of a CRC',
    input: 'crc_token=dGVzdC1jcmMtdG9rZW4tMDE&nonce=bm9uY2UtMDAx',
    output: 'sha256=6Ls+Y6sQaY5b6dk1ZovKBYkv4StnmZLVGiwGZ9P28oc='
  },
  { what: 'the body of a delivery', input: BODY, output: 'sha256=VeL04/yVBB4oPtQDK7lbtqThSKP3irGKSQv/akb+Vlc=' }
]

for (const { what, input, output } of vectors) {
  test(`signs ${what} as the published vector says`, () => {
    assert.equal(signature(SECRET, input), output)
    assert.equal(signature(SECRET, Buffer.from(input)), output)
  })
}

test('signs the bytes, not their meaning', () => {
  assert.notEqual(signature(SECRET, '{"a":1}'), signature(SECRET, '{"a": 1}'))
  assert.equal(signature('sécret', '{"é":"😀"}'), signature('sécret', Buffer.from('{"é":"😀"}')))
})

test('sends the headers of both schemes with a delivery', () => {
  const body = Buffer.from(BODY)
  const headers = signedHeaders({
    secrets: [SECRET],
    signatureHeader: 'x-svc-webhooks-signature',
    id: '1902399000000000001',
    atMs: 1_782_120_000_999,
    body
  })

  const expected = createHmac('sha256', SECRET).update(`1902399000000000001.1782120000.${BODY}`).digest('base64')
  assert.deepEqual(headers, {
    'content-type': 'application/json',
    'x-svc-webhooks-signature': vectors[2]!.output,
    'webhook-id': '1902399000000000001',
    'webhook-timestamp': '1782120000',
    'webhook-signature': `v1,${expected}`
  })
})

test('signs with both secrets while one is being rotated, where the scheme has room for two', () => {
  const body = Buffer.from(BODY)
  const headers = signedHeaders({ secrets: ['new', 'old'], signatureHeader: 'x-sig', id: '1', atMs: 5_000, body })

  assert.equal(headers['x-sig'], signature('new', BODY))
  assert.equal(
    headers['webhook-signature'],
    `${standardSignature('new', '1', 5, BODY)} ${standardSignature('old', '1', 5, BODY)}`
  )
})
