import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { markReplayed } from './replay-mark.ts'

const mark = (text: string) => markReplayed(Buffer.from(text)).toString()

const cases = [
  ['{"data":{"event_uuid":"1"}}', '{"data":{"event_uuid":"1"},"meta":{"replay":true}}'],
  ['{"data":[],"meta":{}}', '{"data":[],"meta":{"replay":true}}'],
  ['{"meta":{"a":"}"} , "data":1}', '{"meta":{"a":"}","replay":true} , "data":1}'],
  ['{"d\\u0061ta":null}\n', '{"d\\u0061ta":null,"meta":{"replay":true}}\n'],
  ['{"data":12345678901234567890.10,"meta":null}', '{"data":12345678901234567890.10,"meta":{"replay":true}}'],
  [
    '{"for_user_id":"42","tweet_create_events":[{"data":{}}]}',
    '{"for_user_id":"42","tweet_create_events":[{"data":{}}]}'
  ],
  ['[{"data":1}]', '[{"data":1}]'],
  ['{}', '{}'],
  ['{"data":', '{"data":'],
  ['not json', 'not json']
] as const

for (const [given, expected] of cases) {
  test(`marks ${given.trim()}`, () => assert.equal(mark(given), expected))
}

test('adds the mark to any data envelope and changes nothing else', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }),
      fc.constantFrom(undefined, 2),
      (rest, data, meta, indent) => {
        const body = { ...rest, data, ...(meta ? { meta } : {}) }
        if (!meta) delete (body as Record<string, unknown>).meta
        const given = JSON.parse(JSON.stringify(body))

        const marked = JSON.parse(mark(JSON.stringify(body, null, indent)))

        assert.deepEqual(marked, { ...given, meta: { ...given.meta, replay: true } })
      }
    )
  )
})
