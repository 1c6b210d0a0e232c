/**
 * The rules of a product, in one place for the batch request and for feeds. A feed of millions of rows passes through
 * here, so each rule looks at a clean value cheaply and only explains itself once something is wrong.
 */
import { cutValue, type Issue, issue } from './issues.ts'
import { explainLink } from './links.ts'
import {
  checkColor,
  checkDescription,
  checkImage,
  checkSaleDates,
  checkSalePrice,
  checkSeparators,
  checkUrl,
  clean,
  type Found,
  identifier,
  missingIdentifier,
  oneOf,
  readGtin,
  readImageList,
  readInventory,
  readPrice,
  required,
  text
} from './product-checks.ts'
import {
  AGE_GROUPS,
  AVAILABILITIES,
  CONDITIONS,
  FIELD_INDEX,
  type FieldValues,
  GENDERS,
  GENERATED_FIELDS,
  PRODUCT_FIELDS,
  type ProductField,
  TEXT_CHARS_MAX,
  TITLE_CHARS_MAX
} from './product-fields.ts'

/** A product as it is stored and, but for the amounts, answered. */
export interface ProductColumns {
  id: string
  title: string
  description: string
  availability: string
  condition: string
  price: string
  price_amount: bigint
  /** Of the price and of the sale price: the two must agree. */
  price_currency: string
  link: string
  image_link: string
  brand: string | null
  gtin: string | null
  mpn: string | null
  mobile_link: string | null
  additional_image_link: string | null
  ext_product_category: string | null
  product_type: string | null
  inventory: number | null
  sale_price: string | null
  sale_price_amount: bigint | null
  sale_price_effective_date: string | null
  item_group_id: string | null
  gender: string | null
  color: string | null
  size: string | null
  age_group: string | null
  custom_label_0: string | null
  custom_label_1: string | null
  custom_label_2: string | null
  custom_label_3: string | null
  custom_label_4: string | null
}

export interface Validation {
  /** Null when there is any error. */
  product: ProductColumns | null
  errors: Issue[]
  warnings: Issue[]
}

const at = (field: ProductField) => FIELD_INDEX.get(field)!
const ID = at('id')
const TITLE = at('title')
const DESCRIPTION = at('description')
const AVAILABILITY = at('availability')
const CONDITION = at('condition')
const PRICE = at('price')
const LINK = at('link')
const IMAGE_LINK = at('image_link')
const BRAND = at('brand')
const GTIN = at('gtin')
const MPN = at('mpn')
const MOBILE_LINK = at('mobile_link')
const ADDITIONAL_IMAGE_LINK = at('additional_image_link')
const EXT_PRODUCT_CATEGORY = at('ext_product_category')
const PRODUCT_TYPE = at('product_type')
const INVENTORY = at('inventory')
const SALE_PRICE = at('sale_price')
const SALE_PRICE_EFFECTIVE_DATE = at('sale_price_effective_date')
const ITEM_GROUP_ID = at('item_group_id')
const GENDER = at('gender')
const COLOR = at('color')
const SIZE = at('size')
const AGE_GROUP = at('age_group')
const CUSTOM_LABEL_0 = at('custom_label_0')

/** Checks a product given as text, one slot per field; an empty or missing slot is an unset field. */
export function validateFields(values: FieldValues, found: Found = { errors: [], warnings: [] }): Validation {
  const { errors, warnings } = found

  const id = required(identifier(values[ID], 'id', found), 'id', found)
  const title = required(text(values[TITLE], 'title', TITLE_CHARS_MAX, found), 'title', found)
  const description = required(clean(values[DESCRIPTION]), 'description', found)
  if (description !== null) checkDescription(description, found)
  const availability = required(
    oneOf(values[AVAILABILITY], 'availability', AVAILABILITIES, found),
    'availability',
    found
  )
  const condition = required(oneOf(values[CONDITION], 'condition', CONDITIONS, found), 'condition', found)
  const priceText = required(clean(values[PRICE]), 'price', found)
  const price = priceText === null ? undefined : readPrice(priceText, 'price', found)
  const link = required(clean(values[LINK]), 'link', found)
  if (link !== null) checkUrl(link, 'link', explainLink, found)
  const imageLink = required(clean(values[IMAGE_LINK]), 'image_link', found)
  if (imageLink !== null) checkImage(imageLink, 'image_link', found)

  const brand = text(values[BRAND], 'brand', TEXT_CHARS_MAX, found)
  const gtin = readGtin(values[GTIN], found)
  const mpn = text(values[MPN], 'mpn', TEXT_CHARS_MAX, found)
  if (brand === null && gtin === null && mpn === null) missingIdentifier(found)
  const mobileLink = clean(values[MOBILE_LINK])
  if (mobileLink !== null) checkUrl(mobileLink, 'mobile_link', explainLink, found)
  const additionalImageLink = readImageList(values[ADDITIONAL_IMAGE_LINK], found)
  const extProductCategory = text(values[EXT_PRODUCT_CATEGORY], 'ext_product_category', TEXT_CHARS_MAX, found)
  const productType = text(values[PRODUCT_TYPE], 'product_type', TEXT_CHARS_MAX, found)
  if (productType?.includes('>')) checkSeparators(productType, found)
  const inventory = readInventory(values[INVENTORY], availability, found)
  const salePriceText = clean(values[SALE_PRICE])
  const salePrice = salePriceText === null ? undefined : readPrice(salePriceText, 'sale_price', found)
  if (price && salePrice) checkSalePrice(price, salePrice, found)
  const saleDates = clean(values[SALE_PRICE_EFFECTIVE_DATE])
  if (saleDates !== null) checkSaleDates(saleDates, salePriceText, found)
  const itemGroupId = identifier(values[ITEM_GROUP_ID], 'item_group_id', found)
  const gender = oneOf(values[GENDER], 'gender', GENDERS, found)
  const color = text(values[COLOR], 'color', TEXT_CHARS_MAX, found)
  if (color !== null) checkColor(color, found)
  const size = text(values[SIZE], 'size', TEXT_CHARS_MAX, found)
  const ageGroup = oneOf(values[AGE_GROUP], 'age_group', AGE_GROUPS, found)
  const label0 = text(values[CUSTOM_LABEL_0], 'custom_label_0', TEXT_CHARS_MAX, found)
  const label1 = text(values[CUSTOM_LABEL_0 + 1], 'custom_label_1', TEXT_CHARS_MAX, found)
  const label2 = text(values[CUSTOM_LABEL_0 + 2], 'custom_label_2', TEXT_CHARS_MAX, found)
  const label3 = text(values[CUSTOM_LABEL_0 + 3], 'custom_label_3', TEXT_CHARS_MAX, found)
  const label4 = text(values[CUSTOM_LABEL_0 + 4], 'custom_label_4', TEXT_CHARS_MAX, found)

  if (errors.length > 0 || price === undefined) return { product: null, errors, warnings }
  const product: ProductColumns = {
    id: id!,
    title: title!,
    description: description!,
    availability: availability!,
    condition: condition!,
    price: price.text,
    price_amount: price.amount,
    price_currency: price.currency,
    link: link!,
    image_link: imageLink!,
    brand,
    gtin,
    mpn,
    mobile_link: mobileLink,
    additional_image_link: additionalImageLink,
    ext_product_category: extProductCategory,
    product_type: productType,
    inventory,
    sale_price: salePrice?.text ?? null,
    sale_price_amount: salePrice?.amount ?? null,
    sale_price_effective_date: saleDates,
    item_group_id: itemGroupId,
    gender,
    color,
    size,
    age_group: ageGroup,
    custom_label_0: label0,
    custom_label_1: label1,
    custom_label_2: label2,
    custom_label_3: label3,
    custom_label_4: label4
  }
  return { product, errors, warnings }
}

/** Checks a product of a JSON request. A field that is null, absent or empty is unset. */
export function validateProduct(input: Record<string, unknown>): Validation {
  const found: Found = { errors: [], warnings: [] }
  const values: (string | null)[] = new Array(PRODUCT_FIELDS.length).fill(null)
  for (const [key, value] of Object.entries(input)) {
    const index = FIELD_INDEX.get(key)
    if (index !== undefined) values[index] = fromJson(value, PRODUCT_FIELDS[index]!, found)
    else if (!GENERATED_FIELDS.has(key)) unknownField(key, found)
  }
  return validateFields(values, found)
}

const UNKNOWN_FIELDS_NAMED_MAX = 20

function unknownField(key: string, { warnings }: Found) {
  if (warnings.length >= UNKNOWN_FIELDS_NAMED_MAX) return
  const message = (shown: string) =>
    `${shown} is not a product field and was ignored. Check its spelling or leave it out.`
  warnings.push(issue('UNKNOWN_FIELD', cutValue(key), key, message))
}

/** The text of a JSON value; anything that is not the field's type is an error and reads as unset. */
function fromJson(value: unknown, field: ProductField, { errors }: Found): string | null {
  if (value === null || value === undefined) return null
  if (field === 'inventory' && (typeof value === 'number' || typeof value === 'bigint')) {
    if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value)
  } else if (field === 'additional_image_link' && Array.isArray(value)) {
    if (value.every((url) => typeof url === 'string')) return value.map((url) => url.replaceAll(',', '%2C')).join(',')
  } else if (typeof value === 'string') {
    if (value.isWellFormed() && !value.includes('\0')) return value
    const message = (shown: string) =>
      `${field} ${shown} contains a NUL or half a surrogate pair. Send valid Unicode text.`
    errors.push(issue('INVALID_CHARACTER', field, value.toWellFormed().replaceAll('\0', '\uFFFD'), message))
    return null
  }
  const type = field === 'inventory' ? 'an integer' : 'a string'
  errors.push(issue('WRONG_TYPE', field, value, (shown) => `${field} ${shown} is not ${type}. Send ${type} or null.`))
  return null
}
