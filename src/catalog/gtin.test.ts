import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { explainGtin, parseGtin } from './gtin.ts'

const accepted: [kind: string, text: string, stored: string][] = [
  ['EAN-8', '96385074', '96385074'],
  ['UPC-A', '036000291452', '036000291452'],
  ['EAN-13', '4006381333931', '4006381333931'],
  ['JAN', '4901234567894', '4901234567894'],
  ['GTIN-14', '10614141000415', '10614141000415'],
  ['ISBN-13 with dashes', '978-0-306-40615-7', '9780306406157'],
  ['ISBN-10', '0306406152', '0306406152'],
  ['ISBN-10 with X', '0-8044-2957-x', '080442957X'],
  ['spaces', '4006 3813 3393 1', '4006381333931']
]

for (const [kind, text, stored] of accepted) {
  test(`accepts ${kind} ${text} and stores it plain`, () => assert.equal(parseGtin(text), stored))
}

const refused: [text: string, why: RegExp][] = [
  ['96385075', /wrong check digit/],
  ['036000291453', /wrong check digit/],
  ['4006381333932', /wrong check digit/],
  ['0306406153', /wrong check digit/],
  ['03064X6152', /Give only the digits/],
  ['36000291452', /leading zeros seem to be lost. Write "036000291452"/],
  ['8.85E+12', /scientific notation/],
  ['00000000', /other than zero/],
  ['- -', /other than zero/],
  ['1234', /It has 4 digits/],
  ['400638133393１', /Give only the digits/],
  ['none', /Give only the digits/],
  ['9'.repeat(40), /It has 40 digits/]
]

for (const [text, why] of refused) {
  test(`refuses gtin ${text} and says why`, () => {
    assert.equal(parseGtin(text), undefined)
    assert.match(explainGtin(text), why)
  })
}

test('catches every single wrong digit', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('96385074', '036000291452', '4006381333931', '10614141000415', '0306406152'),
      fc.nat(13),
      fc.integer({ min: 1, max: 9 }),
      (valid, at, by) => {
        const index = at % valid.length
        const wrong = valid.slice(0, index) + ((Number(valid[index]) + by) % 10) + valid.slice(index + 1)

        assert.equal(parseGtin(wrong), undefined, wrong)
      }
    )
  )
})
