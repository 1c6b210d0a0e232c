import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TokenTable } from './token-table.ts'
import { containsPhrase, containsWithin, tokenize } from './tokens.ts'

const CASES: [text: string, tokens: string[], why: string][] = [
  ['Coca-Cola', ['coca', 'cola'], 'splits on punctuation'],
  ["don't stop_now", ['don', 't', 'stop', 'now'], 'apostrophe and underscore are punctuation'],
  ['1,000 @ann #cat $abc', ['1', '000', 'ann', 'cat', 'abc'], 'signs of entities are punctuation'],
  ['a+b=c © d', ['a', 'b', 'c', 'd'], 'splits on symbols'],
  ['CAFÉ cafe\u0301 cafe', ['café', 'café', 'cafe'], 'case is folded, diacritics are kept, spelled either way'],
  ['Ünïcödé', ['ünïcödé'], 'words may go beyond ASCII'],
  ['東京タワー', ['東', '京', 'タ', 'ワ', 'ー'], 'scripts without spaces are read by character'],
  ['สวัสดี', ['ส', 'วั', 'ส', 'ดี'], 'marks stay with their letter'],
  ['한국어 학교', ['한국어', '학교'], 'Korean has spaces'],
  ['hi😀😃there', ['hi', '😀', '😃', 'there'], 'each emoji is a token'],
  ['❤️ ❤', ['❤', '❤'], 'variation selectors do not matter'],
  ['👍🏽 👍', ['👍🏽', '👍'], 'skin tones do'],
  ['👩‍🚀👨‍👩‍👧', ['👩‍🚀', '👨‍👩‍👧'], 'joined emoji are one'],
  ['🇫🇷🇯🇵', ['🇫🇷', '🇯🇵'], 'flags are pairs'],
  ['soft\u00adhyphen zero\u200bwidth', ['softhyphen', 'zerowidth'], 'invisible characters do not split words'],
  ['', [], 'nothing in nothing'],
  ['… —!', [], 'nothing but punctuation']
]

for (const [text, tokens, why] of CASES) {
  test(`tokens of "${text}": ${why}`, () => {
    assert.deepEqual(tokenize(text), tokens)
  })
}

test('finds a phrase only as consecutive tokens', () => {
  const tokens = tokenize('a b a c')

  assert.ok(containsPhrase(tokens, ['a', 'c']))
  assert.ok(containsPhrase(tokens, ['a', 'b', 'a', 'c']))
  assert.ok(!containsPhrase(tokens, ['b', 'c']))
  assert.ok(!containsPhrase(tokens, ['c', 'a']))
  assert.ok(!containsPhrase(tokens, []))
})

test('lets words be N tokens apart, and N-2 in reverse order', () => {
  const between = (count: number) => Array.from({ length: count }, () => 'x')
  for (const distance of [1, 2, 3, 4, 5, 6]) {
    assert.ok(containsWithin(['a', ...between(distance), 'b'], ['a', 'b'], distance))
    assert.ok(!containsWithin(['a', ...between(distance + 1), 'b'], ['a', 'b'], distance))
    assert.equal(containsWithin(['b', ...between(Math.max(0, distance - 2)), 'a'], ['a', 'b'], distance), distance >= 2)
    assert.ok(!containsWithin(['b', ...between(distance - 1), 'a'], ['a', 'b'], distance))
  }
})

test('places words as trying every arrangement would', () => {
  const arrange = (tokens: string[], words: string[], distance: number, taken: number[] = []): boolean => {
    if (taken.length === words.length) {
      const moved = taken.map((at, index) => at - index)
      return Math.max(...moved) - Math.min(...moved) <= distance
    }
    return tokens.some(
      (token, at) =>
        token === words[taken.length] && !taken.includes(at) && arrange(tokens, words, distance, [...taken, at])
    )
  }
  const token = fc.constantFrom('a', 'b', 'c', 'x')
  fc.assert(
    fc.property(
      fc.array(token, { maxLength: 9 }),
      fc.array(token, { minLength: 2, maxLength: 4 }),
      fc.integer({ min: 1, max: 6 }),
      (tokens, words, distance) => {
        assert.equal(containsWithin(tokens, words, distance), arrange(tokens, words, distance))
      }
    ),
    { numRuns: 1000 }
  )
})

test('the table holds what was put in and not taken out', () => {
  const token = fc.oneof(fc.stringMatching(/^[ab]{1,2}[a-z0-9]{0,2}$/), fc.constantFrom('été', '東', '😀'))
  const step = fc.record({ token, remove: fc.boolean(), number: fc.integer({ min: 1, max: 1000 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const table = new TokenTable()
      const expected = new Map<string, number>()
      for (const { token, remove, number } of steps) {
        if (remove) {
          table.delete(token)
          expected.delete(token)
        } else {
          table.set(token, number)
          expected.set(token, number)
        }
      }

      assert.equal(table.size, expected.size)
      for (const { token } of steps) assert.equal(table.get(token), expected.get(token) ?? 0)
    }),
    { numRuns: 100 }
  )
})

test('the table reads a text as the tokenizer does', () => {
  const part = fc.oneof(
    fc.constantFrom('cat', 'CAT', 'Dog', 'x1', 'été', '東京', '😀', "don't", 'a-b', '_', ' ', '#', '…'),
    fc.string({ maxLength: 4, unit: 'grapheme' })
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(part, { maxLength: 6 }), (parts, known) => {
      const table = new TokenTable()
      known.flatMap(tokenize).forEach((token, index) => {
        table.set(token, index + 1)
      })
      const text = parts.join('')
      const into = new Int32Array(text.length + 4)

      const end = table.scan(text, into, 3)

      assert.deepEqual(
        [...into.subarray(3, end)],
        tokenize(text).map((token) => table.get(token))
      )
    }),
    { numRuns: 500 }
  )
})

test('taking tokens in and out for long does not make the table grow', () => {
  const table = new TokenTable()
  for (let count = 0; count < 20_000; count++) {
    table.set(`token${count}`, count + 1)
    table.delete(`token${count - 5}`)
  }

  assert.equal(table.size, 5)
  assert.equal(table.get('token19999'), 20_000)
  assert.equal(table.get('token19994'), 0)
})
