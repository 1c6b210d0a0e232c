/** Money is in micro units on the wire and in the currency for people; in between it is text and BigInt, never a fraction. */
const MICROS = 1_000_000n

const digitsOf = (currency: string) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2

/** With the symbol; as many digits as the currency has, more only if the amount has them. */
export function money(micros: number | bigint | null, currency: string): string {
  if (micros === null) return '–'
  const amount = Number(micros) / 1_000_000
  const digits = digitsOf(currency)
  const exact = Number(amount.toFixed(digits)) === amount
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    minimumFractionDigits: Number.isInteger(amount) ? 0 : digits,
    maximumFractionDigits: exact ? digits : 6
  }).format(amount)
}

/** As it stands in a field: `25`, `25.50`. */
export function amountText(micros: number | null, currency: string): string {
  if (micros === null) return ''
  const whole = BigInt(micros)
  const fraction = String(whole % MICROS)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const head = String(whole / MICROS)
  return fraction === '' ? head : `${head}.${fraction.padEnd(digitsOf(currency), '0')}`
}

/** What a person typed, as micro units in text; null when it is no amount. `1,234.50`, `1.234,50`, `1234.5`. */
export function microsOf(typed: string): string | null {
  const text = typed.replace(/[\s\u00a0\u202f’']/g, '').replace(/^[^\d.,-]+|[^\d.,]+$/g, '')
  const plain = /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(text)
    ? text.replaceAll(',', '')
    : /^\d{1,3}(\.\d{3})+,\d*$/.test(text)
      ? text.replaceAll('.', '').replace(',', '.')
      : text.replace(',', '.')
  const match = /^(\d{1,12})(?:\.(\d{0,6}))?$/.exec(plain)
  if (!match) return null
  return String(BigInt(match[1]!) * MICROS + BigInt((match[2] ?? '').padEnd(6, '0')))
}
