import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../errors.ts'
import { exactNumber, parseJson, parsePairs, readStored, stringifiable } from './json.ts'

const parse = (text: string) => parseJson(Buffer.from(text))

test('keeps integers beyond 2^53 exact, in and out', () => {
  const { money, small } = parse('{"money":9223372036854775807,"small":12}') as { money: bigint; small: number }

  assert.equal(money, 9223372036854775807n)
  assert.equal(small, 12)
  assert.equal(JSON.stringify({ money: exactNumber(money) }), '{"money":9223372036854775807}')
})

test('what was parsed can be stored and read again without losing a digit', () => {
  const text = '{"a":[1902345678901234567,{"b":-9007199254740993,"c":"1902345678901234567"}],"d":null,"e":1.5}'
  const plain = { a: [1, { b: 'x' }], c: null }

  assert.equal(JSON.stringify(stringifiable(parse(text))), text)
  assert.equal(JSON.stringify(readStored(text)), text)
  assert.equal(stringifiable(plain), plain, 'nothing is copied without need')
  assert.deepEqual(readStored('{"id":"1902345678901234567"}'), { id: '1902345678901234567' })
})

for (const [what, body] of [
  ['malformed JSON', '{"a":'],
  ['a duplicate key', '{"a":1,"b":{"c":1},"a":2}'],
  ['a duplicate key in other spelling', '{"a":1,"\\u0061":2}'],
  ['a prototype key', '{"__proto__":{"x":1}}'],
  ['a null character', '{"a":"x\\u0000y"}'],
  ['deep nesting', '['.repeat(2000) + ']'.repeat(2000)],
  ['an empty body', '']
] as const) {
  test(`refuses ${what} with a sentence`, () => {
    assert.throws(
      () => parse(body),
      (error) => error instanceof ApiError && error.status === 400 && error.message.length > 10
    )
  })
}

test('refuses invalid UTF-8', () => {
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0xfe, 0x22])), ApiError)
})

test('accepts the same key in different objects, and escaped backslashes before u0000', () => {
  assert.deepEqual(parse('[{"a":1},{"a":2,"b":[{"a":3},"a","a"]}]'), [{ a: 1 }, { a: 2, b: [{ a: 3 }, 'a', 'a'] }])
  assert.deepEqual(parse('{"a":"\\\\u0000"}'), { a: '\\u0000' })
})

test('reads pairs in order, repeated keys and plus signs included', () => {
  assert.deepEqual(parsePairs('a=1&b=x+y&a=%C3%A9&c'), [
    ['a', '1'],
    ['b', 'x y'],
    ['a', 'é'],
    ['c', '']
  ])
  assert.throws(() => parsePairs('a=%ff'), ApiError)
  assert.throws(() => parsePairs('a=%00'), ApiError)
})
