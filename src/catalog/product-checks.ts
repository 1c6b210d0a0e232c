/** One function per product rule. A `read…` gives back the value as it is stored, a `check…` only looks. */
import { explainEffectiveDates } from './effective-dates.ts'
import { explainGtin, parseGtin } from './gtin.ts'
import { type Issue, issue } from './issues.ts'
import { explainImageLink, type LinkProblem, otherImageFormat } from './links.ts'
import { findHtml, findHtmlEntity, hasHexColor, isLongerThan } from './plain-text.ts'
import { explainPrice, type Price, parsePrice } from './prices.ts'
import {
  ADDITIONAL_IMAGES_MAX,
  DESCRIPTION_CHARS_MAX,
  type FieldValues,
  ID_BYTES_MAX,
  ID_CHARS_MAX,
  INVENTORY_MAX,
  type ProductField
} from './product-fields.ts'

/** Where the rules put what they find. */
export interface Found {
  errors: Issue[]
  warnings: Issue[]
}

type Value = FieldValues[number]

/** White space around a value means nothing; nothing left means unset. */
export function clean(value: Value): string | null {
  if (value == null || value.length === 0) return null
  const first = value.charCodeAt(0)
  const last = value.charCodeAt(value.length - 1)
  if (first > 32 && first < 128 && last > 32 && last < 128) return value
  const trimmed = value.trim()
  return trimmed === '' ? null : trimmed
}

export function required(value: string | null, field: ProductField, found: Found): string | null {
  if (value === null) missing(field, found)
  return value
}

function missing(field: ProductField, { errors }: Found) {
  // A value that was refused reads as unset, but is not missing.
  if (errors.some((error) => error.field === field)) return
  errors.push(issue('MISSING_FIELD', field, null, () => `${field} is missing: every product must have it. Add it.`))
}

export function missingIdentifier({ errors }: Found) {
  if (errors.some(({ field }) => field === 'brand' || field === 'gtin' || field === 'mpn')) return
  const rule = 'brand, gtin and mpn are all missing: a product must have at least one of them.'
  errors.push(issue('MISSING_IDENTIFIER', 'brand', null, () => `${rule} Add the brand.`))
}

export function text(value: Value, field: ProductField, charactersMax: number, found: Found): string | null {
  const cleaned = clean(value)
  if (cleaned !== null && cleaned.length > charactersMax) checkLength(cleaned, field, charactersMax, found)
  return cleaned
}

function checkLength(value: string, field: ProductField, charactersMax: number, { errors }: Found): boolean {
  if (!isLongerThan(value, charactersMax)) return true
  const message = (shown: string) => `${field} ${shown} is longer than ${charactersMax} characters. Shorten it.`
  errors.push(issue('TOO_LONG', field, value, message))
  return false
}

/** Ids are counted in characters like all text, but they are index entries, whose bytes have an end too. */
export function identifier(value: Value, field: ProductField, found: Found): string | null {
  const cleaned = text(value, field, ID_CHARS_MAX, found)
  if (cleaned === null || cleaned.length * 3 <= ID_BYTES_MAX || Buffer.byteLength(cleaned) <= ID_BYTES_MAX)
    return cleaned
  if (!found.errors.some((error) => error.field === field)) {
    const message = (shown: string) => `${field} ${shown} is longer than ${ID_BYTES_MAX} bytes. Shorten it.`
    found.errors.push(issue('TOO_LONG', field, cleaned, message))
  }
  return cleaned
}

export function oneOf(value: Value, field: ProductField, allowed: readonly string[], { errors }: Found): string | null {
  const cleaned = clean(value)
  if (cleaned === null || allowed.includes(cleaned)) return cleaned
  const letters = (word: string) => word.toLowerCase().replaceAll(/[^a-z]/g, '')
  const meant = allowed.find((option) => letters(option) === letters(cleaned))
  const advice = meant ? `Write "${meant}".` : 'Use one of them, in lower case.'
  const message = (shown: string) => `${field} ${shown} is not one of: ${allowed.join(', ')}. ${advice}`
  errors.push(issue('INVALID_VALUE', field, cleaned, message))
  return cleaned
}

export function checkDescription(value: string, found: Found) {
  if (value.length > DESCRIPTION_CHARS_MAX && !checkLength(value, 'description', DESCRIPTION_CHARS_MAX, found)) return
  const tag = value.includes('<') ? findHtml(value) : undefined
  if (tag !== undefined) {
    const message = (shown: string) => `description contains the HTML ${shown}: only plain text is allowed. Remove it.`
    found.errors.push(issue('HTML_NOT_ALLOWED', 'description', tag, message))
  }
  const entity = findHtmlEntity(value)
  if (entity !== undefined) {
    const message = (shown: string) =>
      `description contains ${shown}, which is shown as it is. Write the character itself.`
    found.warnings.push(issue('HTML_ENTITY', 'description', entity, message))
  }
}

export function readPrice(value: string, field: ProductField, { errors, warnings }: Found): Price | undefined {
  const price = parsePrice(value)
  if (price === undefined) {
    const { code, rule } = explainPrice(value)
    errors.push(issue(code, field, value, (shown) => `${field} ${shown} ${rule}`))
  } else if (price.amount === 0n) {
    const message = (shown: string) => `${field} ${shown} is zero: the product is shown as free. Check the price.`
    warnings.push(issue('ZERO_PRICE', field, value, message))
  }
  return price
}

export function checkSalePrice(price: Price, salePrice: Price, { errors }: Found) {
  const refuse = (code: string, rule: string) =>
    errors.push(issue(code, 'sale_price', salePrice.text, (shown) => `sale_price ${shown} ${rule}`))
  if (salePrice.currency !== price.currency) {
    refuse('SALE_PRICE_CURRENCY', `is not in the currency of price "${price.text}". Give both in ${price.currency}.`)
  } else if (salePrice.amount >= price.amount) {
    refuse('SALE_PRICE_NOT_LOWER', `is not lower than price "${price.text}". Lower it, or leave sale_price out.`)
  }
}

export function checkSaleDates(value: string, salePrice: string | null, { errors, warnings }: Found) {
  const field = 'sale_price_effective_date'
  const rule = explainEffectiveDates(value)
  if (rule !== undefined) {
    errors.push(issue('INVALID_EFFECTIVE_DATE', field, value, (shown) => `${field} ${shown} ${rule}`))
  } else if (salePrice === null) {
    const message = (shown: string) => `${field} ${shown} has no effect without a sale_price. Add one, or leave it out.`
    warnings.push(issue('UNUSED_EFFECTIVE_DATE', field, value, message))
  }
}

export function checkUrl(
  value: string,
  field: ProductField,
  explain: (url: string) => LinkProblem | undefined,
  { errors }: Found
): boolean {
  const problem = explain(value)
  if (problem === undefined) return true
  errors.push(issue(problem.code, field, value, (shown) => `${field} ${shown} ${problem.rule}`))
  return false
}

export function checkImage(value: string, field: ProductField, found: Found) {
  if (!checkUrl(value, field, explainImageLink, found)) return
  const format = otherImageFormat(value)
  if (format === undefined) return
  const message = (shown: string) =>
    `${field} ${shown} seems to be ${format}: only JPG, GIF, WEBP or PNG are shown. Convert it.`
  found.warnings.push(issue('IMAGE_TYPE', field, value, message))
}

/** A comma-separated list; a comma inside an address has to be written as %2C. */
export function readImageList(value: Value, found: Found): string | null {
  const field = 'additional_image_link'
  const cleaned = clean(value)
  if (cleaned === null) return null
  let count = 0
  let stored = ''
  for (let start = 0; start < cleaned.length; ) {
    const comma = cleaned.indexOf(',', start)
    const end = comma < 0 ? cleaned.length : comma
    const url = clean(cleaned.slice(start, end))
    start = end + 1
    if (url === null) continue
    if (++count > ADDITIONAL_IMAGES_MAX) {
      const rule = `has more than ${ADDITIONAL_IMAGES_MAX} addresses. Keep the best ${ADDITIONAL_IMAGES_MAX}.`
      found.errors.push(issue('TOO_MANY_IMAGES', field, cleaned, (shown) => `${field} ${shown} ${rule}`))
      return null
    }
    checkImage(url, field, found)
    stored = stored === '' ? url : `${stored},${url}`
  }
  return stored === '' ? null : stored
}

export function readGtin(value: Value, { errors }: Found): string | null {
  const cleaned = clean(value)
  if (cleaned === null) return null
  const gtin = parseGtin(cleaned)
  if (gtin !== undefined) return gtin
  errors.push(issue('INVALID_GTIN', 'gtin', cleaned, (shown) => `gtin ${shown} ${explainGtin(cleaned)}`))
  return null
}

export function readInventory(value: Value, availability: string | null, { errors }: Found): number | null {
  const cleaned = clean(value)
  if (cleaned === null) return null
  const inventory = /^[0-9]{1,10}$/.test(cleaned) ? Number(cleaned) : Number.NaN
  if (!(inventory <= INVENTORY_MAX)) {
    const rule = `is not a whole number from 0 to ${INVENTORY_MAX}. Give the quantity without separators or decimals.`
    errors.push(issue('INVALID_INVENTORY', 'inventory', cleaned, (shown) => `inventory ${shown} ${rule}`))
    return null
  }
  if (inventory === 0 && availability === 'in stock') {
    const rule = 'must be at least 1 when availability is "in stock". Correct the quantity or the availability.'
    errors.push(issue('IN_STOCK_WITHOUT_INVENTORY', 'inventory', cleaned, (shown) => `inventory ${shown} ${rule}`))
  }
  return inventory
}

export function checkColor(value: string, { errors }: Found) {
  if (!hasHexColor(value)) return
  const message = (shown: string) => `color ${shown} is a hex code. Write the name of the color, such as "dark blue".`
  errors.push(issue('HEX_COLOR', 'color', value, message))
}

export function checkSeparators(productType: string, { warnings }: Found) {
  if (!/[^ ]>|>[^ ]/.test(productType)) return
  const message = (shown: string) => `product_type ${shown} has a ">" without spaces around it. Write "A > B".`
  warnings.push(issue('CATEGORY_SEPARATOR', 'product_type', productType, message))
}
