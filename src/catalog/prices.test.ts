import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CURRENCY_DECIMALS } from './currencies.ts'
import { explainPrice, formatPrice, parsePrice } from './prices.ts'

const accepted: [text: string, amount: bigint, stored: string][] = [
  ['20.00 USD', 2000n, '20.00 USD'],
  ['20 USD', 2000n, '20.00 USD'],
  ['20.5 USD', 2050n, '20.50 USD'],
  ['0.01 USD', 1n, '0.01 USD'],
  ['0 USD', 0n, '0.00 USD'],
  ['007.10 USD', 710n, '7.10 USD'],
  ['1500 JPY', 1500n, '1500 JPY'],
  ['1500.00 JPY', 1500n, '1500 JPY'],
  ['1.234 KWD', 1234n, '1.234 KWD'],
  ['1.5 KWD', 1500n, '1.500 KWD'],
  ['1.2345 CLF', 12345n, '1.2345 CLF'],
  ['9999999999999.99 USD', 999999999999999n, '9999999999999.99 USD']
]

for (const [text, amount, stored] of accepted) {
  test(`reads ${text} exactly and stores ${stored}`, () => {
    const price = parsePrice(text)

    assert.equal(price?.amount, amount)
    assert.equal(price?.text, stored)
    assert.equal(price?.currency, text.slice(-3))
  })
}

const refused: [text: string, code: string, advice: RegExp][] = [
  ['20,00 EUR', 'INVALID_PRICE', /decimal point is "\.".*"20\.00 EUR"/],
  ['1,299.00 USD', 'INVALID_PRICE', /thousands.*"1299\.00 USD"/],
  ['USD 20.00', 'INVALID_PRICE', /"20\.00 USD"/],
  ['20.00USD', 'INVALID_PRICE', /"20\.00 USD"/],
  ['20.00  USD', 'INVALID_PRICE', /"20\.00 USD"/],
  ['20.00 usd', 'INVALID_PRICE', /"20\.00 USD"/],
  ['20.00', 'INVALID_PRICE', /Add the currency/],
  ['$20', 'INVALID_PRICE', /like "20\.00 USD"/],
  ['-1 USD', 'INVALID_PRICE', /like/],
  ['+1 USD', 'INVALID_PRICE', /like/],
  ['.5 USD', 'INVALID_PRICE', /like/],
  ['5. USD', 'INVALID_PRICE', /like/],
  ['1.2.3 USD', 'INVALID_PRICE', /like/],
  ['1e3 USD', 'INVALID_PRICE', /like/],
  ['٢٠ USD', 'INVALID_PRICE', /like/],
  [' USD', 'INVALID_PRICE', /like/],
  ['', 'INVALID_PRICE', /like/],
  ['20.00 ABC', 'UNKNOWN_CURRENCY', /not an ISO 4217/],
  ['20.00 XAU', 'UNKNOWN_CURRENCY', /not an ISO 4217/],
  ['20.00 HRK', 'UNKNOWN_CURRENCY', /price in EUR/],
  ['20.005 USD', 'PRICE_PRECISION', /at most 2/],
  ['20.5 JPY', 'PRICE_PRECISION', /at most 0/],
  ['10000000000000.00 USD', 'PRICE_TOO_LARGE', /9999999999999\.99 USD/],
  ['1000000000000000 JPY', 'PRICE_TOO_LARGE', /999999999999999 JPY/],
  [`${'9'.repeat(500)} USD`, 'PRICE_TOO_LARGE', /above/]
]

for (const [text, code, advice] of refused) {
  test(`refuses the price "${text.slice(0, 30)}" with ${code} and says how to write it`, () => {
    assert.equal(parsePrice(text), undefined)
    assert.equal(explainPrice(text).code, code)
    assert.match(explainPrice(text).rule, advice)
  })
}

test('reads back every amount that it writes, in every currency', () => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 999_999_999_999_999n),
      fc.constantFrom(...CURRENCY_DECIMALS.keys()),
      (amount, currency) => {
        const text = formatPrice(amount, currency)
        assert.deepEqual(parsePrice(text), { amount, currency, text })
      }
    )
  )
})

test('agrees with arithmetic on whole numbers, however the zeros fall', () => {
  fc.assert(
    fc.property(
      fc.nat(9_999_999),
      fc.stringMatching(/^[0-9]{0,6}$/),
      fc.nat(3),
      fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'),
      (whole, fraction, zeros, currency) => {
        const decimals = CURRENCY_DECIMALS.get(currency)!
        const text = `${'0'.repeat(zeros)}${whole}${fraction && `.${fraction}`} ${currency}`

        const beyond = fraction.slice(decimals).replaceAll('0', '')
        const expected = beyond === '' ? BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0')) : undefined

        assert.equal(parsePrice(text)?.amount, expected, text)
        if (expected !== undefined) assert.equal(parsePrice(text)?.text, formatPrice(expected, currency))
      }
    )
  )
})
