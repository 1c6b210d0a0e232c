/** Amounts between people and the wire: the console types and shows them, the API counts in micro units. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { amountText, microsOf, money } from '../console/src/pages/ads/money.ts'

test('what a person types is read as the amount it looks like', () => {
  const typed: [string, string | null][] = [
    ['25', '25000000'],
    ['25.5', '25500000'],
    ['$1,234.50', '1234500000'],
    ['1.234,50', '1234500000'],
    ['1 234,5 €', '1234500000'],
    ['1,500', '1500000000'],
    ['0.000001', '1'],
    ['0', '0'],
    ['', null],
    ['twelve', null],
    ['-5', null],
    ['1.2.3', null],
    ['0.0000001', null]
  ]
  for (const [text, micros] of typed) assert.equal(microsOf(text), micros, text)
})

test('an amount that is shown in a field is read back as the same amount', () => {
  fc.assert(
    fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), fc.constantFrom('USD', 'JPY', 'BHD'), (micros, currency) => {
      assert.equal(microsOf(amountText(micros, currency)), String(micros))
    })
  )
})

test('amounts are shown with as many digits as the currency has, and more only where they matter', () => {
  const shown = (micros: number, currency: string) => money(micros, currency).replace(/\D/g, '')
  assert.equal(shown(140_000_000, 'USD'), '140')
  assert.equal(shown(25_500_000, 'USD'), '2550')
  assert.equal(shown(5_000, 'USD'), '0005')
  assert.equal(shown(1_200_000_000, 'JPY'), '1200')
  assert.equal(money(null, 'USD'), '–')
})
