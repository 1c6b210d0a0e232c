/** The fields of a product in the words and groups of a form. */
export interface Product {
  product_key: string
  item_group_key: string | null
  id: string
  title: string
  description: string
  availability: string
  condition: string
  price: string
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
export type FieldName = Exclude<keyof Product, 'product_key' | 'item_group_key'>
export type Draft = Record<FieldName, string>

export interface FormField {
  name: FieldName
  label: string
  required?: true
  hint?: string
  placeholder?: string
  choices?: readonly string[]
  long?: true
}

export const AVAILABILITIES = ['in stock', 'available for order', 'preorder', 'out of stock', 'discontinued'] as const

export const FIELD_GROUPS: readonly { title: string; open?: true; fields: readonly FormField[] }[] = [
  {
    title: 'What it is',
    open: true,
    fields: [
      { name: 'id', label: 'Id', required: true, hint: 'Yours; it cannot be changed later.' },
      { name: 'title', label: 'Title', required: true },
      { name: 'description', label: 'Description', required: true, long: true, hint: 'Plain text.' },
      { name: 'brand', label: 'Brand', hint: 'Brand, GTIN or MPN: one of them is needed.' },
      { name: 'condition', label: 'Condition', required: true, choices: ['new', 'used', 'refurbished'] }
    ]
  },
  {
    title: 'Price and stock',
    open: true,
    fields: [
      { name: 'price', label: 'Price', required: true, placeholder: '20.00 USD' },
      { name: 'availability', label: 'Availability', required: true, choices: AVAILABILITIES },
      { name: 'sale_price', label: 'Sale price', placeholder: '15.00 USD' },
      { name: 'inventory', label: 'Inventory', placeholder: '12' },
      {
        name: 'sale_price_effective_date',
        label: 'Sale price valid',
        placeholder: '2026-01-15T08:00Z/2026-01-31T23:59Z'
      }
    ]
  },
  {
    title: 'Page and pictures',
    open: true,
    fields: [
      { name: 'link', label: 'Page', required: true, placeholder: 'https://shop.example.com/p/1' },
      { name: 'image_link', label: 'Picture', required: true, placeholder: 'https://shop.example.com/i/1.jpg' },
      { name: 'additional_image_link', label: 'More pictures', hint: 'Up to ten addresses with commas between them.' },
      { name: 'mobile_link', label: 'Page for phones' }
    ]
  },
  {
    title: 'Kind and group',
    fields: [
      { name: 'item_group_id', label: 'Item group', hint: 'Products with the same group are variants of one.' },
      { name: 'product_type', label: 'Product type', placeholder: 'Shoes > Canvas' },
      { name: 'ext_product_category', label: 'Category' },
      { name: 'gender', label: 'Gender', choices: ['female', 'male', 'unisex'] },
      {
        name: 'age_group',
        label: 'Age group',
        choices: ['adult', 'all ages', 'teen', 'kids', 'toddler', 'infant', 'newborn']
      },
      { name: 'color', label: 'Colour' },
      { name: 'size', label: 'Size' },
      { name: 'gtin', label: 'GTIN' },
      { name: 'mpn', label: 'MPN' }
    ]
  },
  {
    title: 'Custom labels',
    fields: ([0, 1, 2, 3, 4] as const).map((n) => ({ name: `custom_label_${n}` as const, label: `Custom label ${n}` }))
  }
]
const FIELDS = FIELD_GROUPS.flatMap(({ fields }) => fields)
const NAMES = new Set<string>(FIELDS.map(({ name }) => name))

export const labelOf = (name: string | null) => FIELDS.find((field) => field.name === name)?.label ?? name ?? ''

export const draftOf = (product: Partial<Product> = {}): Draft =>
  Object.fromEntries(FIELDS.map(({ name }) => [name, String(product[name] ?? '')])) as Draft

export const NEW_DRAFT: Draft = { ...draftOf(), availability: 'in stock', condition: 'new' }

/** As the batch request takes it: what is empty is left out, which unsets it. */
export const productOf = (draft: Draft) =>
  Object.fromEntries(Object.entries(draft).filter(([, value]) => value.trim() !== ''))

/** Messages of a batch result begin with the field they are about; those that do not are about the product. */
export function byField(messages: readonly string[]): { fields: Partial<Record<FieldName, string>>; rest: string[] } {
  const fields: Partial<Record<FieldName, string>> = {}
  const rest: string[] = []
  for (const message of messages) {
    const name = /^[a-z_0-9]+/.exec(message)?.[0] ?? ''
    if (NAMES.has(name)) fields[name as FieldName] = [fields[name as FieldName], message].filter(Boolean).join(' ')
    else rest.push(message)
  }
  return { fields, rest }
}

export const AVAILABILITY_TONES: Record<string, 'good' | 'warn' | 'bad' | 'plain'> = {
  'in stock': 'good',
  'available for order': 'good',
  preorder: 'plain',
  'out of stock': 'warn',
  discontinued: 'bad'
}
