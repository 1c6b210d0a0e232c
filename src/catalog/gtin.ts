/** Trade item numbers: UPC, EAN, JAN and ISBN, told by their length and proven by their check digit. */

/** Lengths of a GTIN: EAN-8, UPC-A, EAN-13 (also JAN and ISBN-13), GTIN-14. ISBN-10 has a check digit of its own. */
const GTIN_LENGTHS = [8, 12, 13, 14]

const ZERO = 48

/** The number without spaces and dashes, or undefined when it is none; `explainGtin` then says why. */
export function parseGtin(text: string): string | undefined {
  const plain = /[ -]/.test(text) ? text.replaceAll(/[ -]/g, '') : text
  if (/^0*$/.test(plain)) return undefined
  if (plain.length === 10) return isIsbn10(plain) ? plain.toUpperCase() : undefined
  return GTIN_LENGTHS.includes(plain.length) && hasGtinCheckDigit(plain) ? plain : undefined
}

/** From the right, digits weigh 1, 3, 1, 3 …; the sum is a multiple of ten. */
function hasGtinCheckDigit(digits: string): boolean {
  let sum = 0
  for (let i = digits.length - 1, weight = 1; i >= 0; i--, weight = 4 - weight) {
    const digit = digits.charCodeAt(i) - ZERO
    if (digit < 0 || digit > 9) return false
    sum += digit * weight
  }
  return sum % 10 === 0
}

/** From the left, digits weigh 10 down to 1; the last may be X for ten; the sum is a multiple of eleven. */
function isIsbn10(text: string): boolean {
  let sum = 0
  for (let i = 0; i < 10; i++) {
    const char = text[i]!
    const digit = i === 9 && (char === 'X' || char === 'x') ? 10 : char.charCodeAt(0) - ZERO
    if (digit < 0 || digit > 10 || (digit === 10 && i < 9)) return false
    sum += digit * (10 - i)
  }
  return sum % 11 === 0
}

/** Continues the sentence "gtin "x" …" for a text that `parseGtin` refused. */
export function explainGtin(text: string): string {
  const plain = text.replaceAll(/[ -]/g, '')
  if (/^[0-9.,]+E\+?[0-9]+$/i.test(plain)) {
    return 'was turned into scientific notation by a spreadsheet. Format the column as text and enter all digits.'
  }
  if (/^0*$/.test(plain)) return 'has no digits other than zero. Leave gtin out when the product has none.'
  const form = 'is not a UPC (12 digits), EAN or JAN (8 or 13), GTIN-14 or ISBN (10 or 13).'
  if (!/^[0-9]+$/.test(plain) && !/^[0-9]{9}[Xx]$/.test(plain)) {
    return `${form} Give only the digits, or leave gtin out when the product has none.`
  }
  if (GTIN_LENGTHS.includes(plain.length) || plain.length === 10) {
    return 'has a wrong check digit. Compare it with the number under the bar code.'
  }
  const padded = GTIN_LENGTHS.filter((length) => length > plain.length && length - plain.length <= 3)
    .map((length) => plain.padStart(length, '0'))
    .find(hasGtinCheckDigit)
  if (padded) return `has ${plain.length} digits: leading zeros seem to be lost. Write "${padded}".`
  return `${form} It has ${plain.length} digits. Compare it with the number under the bar code.`
}
