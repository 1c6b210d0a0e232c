import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeToken, encodeToken } from './paging-tokens.ts'

const direction = fc.constantFrom('next', 'previous') as fc.Arbitrary<'next' | 'previous'>

test('a token gives back its position, in 16 base32hex characters', () => {
  fc.assert(
    fc.property(direction, fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (d, id) => {
      const token = encodeToken({ direction: d, id }, 'rules')
      assert.match(token, /^[0-9a-v]{16}$/)
      assert.deepEqual(decodeToken(token, 'rules'), { direction: d, id })
    })
  )
})

test('garbage, other alphabets and tokens of another list are refused', () => {
  const token = encodeToken({ direction: 'next', id: 4880317267380670464n }, 'subscriptions')

  for (const bad of ['', 'x', 'zzzzzzzzzzzzzzzz', token.slice(1), `${token}0`, token.toUpperCase()])
    assert.equal(decodeToken(bad, 'subscriptions'), undefined, bad)
  assert.equal(decodeToken(token, 'rules'), undefined)
})
