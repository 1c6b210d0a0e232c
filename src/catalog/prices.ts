/** Prices: "a number, a space, then the 3-letter ISO 4217 currency code; `.` is the decimal point". Exact throughout. */
import { CURRENCY_DECIMALS, WITHDRAWN_CURRENCIES } from './currencies.ts'

export interface Price {
  /** In the smallest unit of the currency: 20.00 USD is 2000n, 20 JPY is 20n. */
  amount: bigint
  currency: string
  /** As it is stored and answered, with the decimals of the currency: "20.00 USD". */
  text: string
}

/** Keeps every amount exact as a JavaScript number too, and far inside an eight-byte integer. */
const AMOUNT_DIGITS_MAX = 15

const ZERO = 48
const POINT = 46
const SPACE = 32

const isDigit = (code: number) => code >= ZERO && code <= ZERO + 9

/** The price that the text states, or undefined; `explainPrice` then says why. */
export function parsePrice(text: string): Price | undefined {
  const end = text.length - 4
  if (end < 1 || text.charCodeAt(end) !== SPACE) return undefined
  const currency = text.slice(end + 1)
  const decimals = CURRENCY_DECIMALS.get(currency)
  if (decimals === undefined) return undefined

  let amount = 0
  let significant = 0
  let point = -1
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i)
    if (isDigit(code)) {
      // Zeros beyond the currency's precision change nothing: 1000.00 JPY is exactly 1000 JPY.
      if (point >= 0 && i - point > decimals) {
        if (code !== ZERO) return undefined
        continue
      }
      if (amount !== 0 || code !== ZERO) significant++
      if (significant > AMOUNT_DIGITS_MAX) return undefined
      amount = amount * 10 + (code - ZERO)
    } else if (code === POINT && point < 0 && i > 0 && i < end - 1) point = i
    else return undefined
  }
  const written = point < 0 ? 0 : end - point - 1
  for (let i = written; i < decimals; i++) {
    amount *= 10
    if (amount !== 0 && ++significant > AMOUNT_DIGITS_MAX) return undefined
  }
  const exact = BigInt(amount)
  const leadingZero = text.charCodeAt(0) === ZERO && point !== 1 && end > 1
  return {
    amount: exact,
    currency,
    text: written === decimals && !leadingZero ? text : formatPrice(exact, currency, decimals)
  }
}

/** An amount in smallest units as the API writes it. */
export function formatPrice(amount: bigint, currency: string, decimals = CURRENCY_DECIMALS.get(currency) ?? 0): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  if (decimals === 0) return `${digits} ${currency}`
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)} ${currency}`
}

export interface PriceProblem {
  code: 'INVALID_PRICE' | 'UNKNOWN_CURRENCY' | 'PRICE_PRECISION' | 'PRICE_TOO_LARGE'
  /** Continues the sentence "price "x" …". */
  rule: string
}

/** Why a text that `parsePrice` refused is not a price, and how to write it. */
export function explainPrice(text: string): PriceProblem {
  const currency = /^[0-9]+(?:\.[0-9]+)? ([A-Z]{3})$/.exec(text)?.[1]
  if (currency === undefined)
    return { code: 'INVALID_PRICE', rule: `is not a number, a space and a 3-letter ISO 4217 code. ${adviseForm(text)}` }

  const decimals = CURRENCY_DECIMALS.get(currency)
  if (decimals === undefined) {
    const successor = WITHDRAWN_CURRENCIES.get(currency)
    return {
      code: 'UNKNOWN_CURRENCY',
      rule: successor
        ? `is in ${currency}, a withdrawn ISO 4217 code. Give the price in ${successor}.`
        : `is in ${currency}, which is not an ISO 4217 currency code. Use a code such as USD or EUR.`
    }
  }
  const fraction = /\.([0-9]+)/.exec(text)?.[1] ?? ''
  if (/[1-9]/.test(fraction.slice(decimals))) {
    return {
      code: 'PRICE_PRECISION',
      rule: `has more decimals than ${currency} has: at most ${decimals}. Round it to the smallest unit of ${currency}.`
    }
  }
  return {
    code: 'PRICE_TOO_LARGE',
    rule: `is above ${formatPrice(10n ** BigInt(AMOUNT_DIGITS_MAX) - 1n, currency)}. Give the price of one item.`
  }
}

/** The usual slips, each with the corrected text. */
function adviseForm(text: string): string {
  const write = (number: string, code: string) => `Write "${number} ${code.toUpperCase()}".`
  const number = '([0-9]{1,15}(?:\\.[0-9]{1,4})?)'
  const match = (pattern: string) => new RegExp(`^${pattern}$`).exec(text.slice(0, 60))

  const badSpace = match(`${number}\\s*([A-Za-z]{3})`)
  if (badSpace) return write(badSpace[1]!, badSpace[2]!)
  const codeFirst = match(`([A-Za-z]{3})\\s*${number}`)
  if (codeFirst) return write(codeFirst[2]!, codeFirst[1]!)
  const commaPoint = match('([0-9]{1,15}),([0-9]{1,2})\\s*([A-Za-z]{3})')
  if (commaPoint) return `The decimal point is ".". ${write(`${commaPoint[1]}.${commaPoint[2]}`, commaPoint[3]!)}`
  const thousands = match('([0-9]{1,3}(?:,[0-9]{3})+(?:\\.[0-9]{1,4})?)\\s*([A-Za-z]{3})')
  if (thousands) return `Leave out thousands separators. ${write(thousands[1]!.replaceAll(',', ''), thousands[2]!)}`
  if (match(number)) return `Add the currency: "${text} USD".`
  return 'Write it like "20.00 USD".'
}
