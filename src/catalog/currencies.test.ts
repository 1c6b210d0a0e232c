import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CURRENCY_DECIMALS, WITHDRAWN_CURRENCIES } from './currencies.ts'

test('knows the decimals of every currency that the advertising documents name', () => {
  const documented = {
    0: 'CLP JPY KRW VND',
    2: 'AED ARS AUD BRL CAD COP DZD EGP EUR GBP HKD IDR INR LBP MAD MXN MYR NZD PHP PKR QAR SAR SGD THB TRY USD',
    3: 'BHD IQD KWD TND'
  }
  for (const [decimals, codes] of Object.entries(documented)) {
    for (const code of codes.split(' ')) assert.equal(CURRENCY_DECIMALS.get(code), Number(decimals), code)
  }
})

test('holds the 165 codes of list one that have a minor unit', () => {
  assert.equal(CURRENCY_DECIMALS.size, 165)
  for (const code of CURRENCY_DECIMALS.keys()) assert.match(code, /^[A-Z]{3}$/)
})

test('covers every currency that the runtime knows, except those withdrawn or without a minor unit', () => {
  const withoutMinorUnit = ['XDR', 'XSU']
  const missing = Intl.supportedValuesOf('currency').filter((code) => !CURRENCY_DECIMALS.has(code))

  assert.deepEqual(
    missing.filter((code) => !WITHDRAWN_CURRENCIES.has(code)),
    withoutMinorUnit
  )
})

test('points withdrawn codes at a code that exists', () => {
  for (const [old, successor] of WITHDRAWN_CURRENCIES) {
    assert.ok(!CURRENCY_DECIMALS.has(old), old)
    assert.ok(CURRENCY_DECIMALS.has(successor), successor)
  }
})

test('knows no price in gold, in a test code or in no currency', () => {
  for (const code of ['XAU', 'XTS', 'XXX', 'XDR', 'usd', 'ABC', '']) assert.ok(!CURRENCY_DECIMALS.has(code), code)
})
