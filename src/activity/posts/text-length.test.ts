import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weightedLength } from './text-length.ts'

test('counts letters once, wide ones twice, emoji as two and links as 23', () => {
  assert.equal(weightedLength('héllo'), 5)
  assert.equal(weightedLength('he\u0301llo'), 5)
  assert.equal(weightedLength('日本'), 4)
  assert.equal(weightedLength('👩‍👩‍👧'), 2)
  assert.equal(weightedLength('🇩🇪'), 2)
  assert.equal(weightedLength('see https://example.org/a/very/long/address/indeed?with=more'), 4 + 23)
})
