/** The shipped reference files. An operator's own rows replace them in the database, after `checkReference`. */
import { readFileSync } from 'node:fs'
import type { ReferenceKind, ReferenceRows } from './types.ts'

/** Per kind: the keys every row must have, and how each value looks. The first key identifies the row. */
const COLUMNS: { [K in ReferenceKind]: Partial<Record<keyof ReferenceRows[K], ColumnType>> } = {
  iab_categories: { id: 'text', parent_id: 'text or null', name: 'text' },
  advertiser_business_categories: { id: 'text', name: 'text', iab_categories: 'list' },
  content_categories: {
    id: 'text',
    name: 'text',
    iab_categories: 'list',
    publishers_in_last_thirty_days: 'number',
    videos_monetized_in_last_thirty_days: 'number'
  },
  bidding_rules: {
    currency: 'text',
    minimum_cpe_bid_local_micro: 'number',
    maximum_cpe_bid_local_micro: 'number',
    minimum_denomination: 'number'
  },
  placements: { product_type: 'text', placements: 'list' },
  tv_markets: { locale: 'text', name: 'text', country_code: 'text' },
  platforms: { targeting_value: 'text', targeting_type: 'text', name: 'text' },
  platform_versions: { targeting_value: 'text', targeting_type: 'text', name: 'text', number: 'text', os_type: 'text' },
  devices: { targeting_value: 'text', targeting_type: 'text', name: 'text', manufacturer: 'text', os_type: 'text' },
  network_operators: { targeting_value: 'text', targeting_type: 'text', name: 'text', country_code: 'text' },
  languages: { targeting_value: 'text', targeting_type: 'text', name: 'text' },
  interests: { targeting_value: 'text', targeting_type: 'text', name: 'text' },
  locations: {
    targeting_value: 'text',
    targeting_type: 'text',
    name: 'text',
    country_code: 'text',
    location_type: 'text',
    parent: 'text or null',
    people_thousands: 'number'
  },
  app_store_categories: { targeting_value: 'text', targeting_type: 'text', name: 'text', os_type: 'text' },
  conversations: { targeting_value: 'text', targeting_type: 'text', name: 'text', conversation_type: 'text' },
  events: {
    targeting_value: 'text',
    targeting_type: 'text',
    id: 'text',
    name: 'text',
    event_type: 'text',
    start_time: 'text',
    end_time: 'text',
    is_global: 'boolean',
    country_codes: 'list'
  },
  tv_shows: { targeting_value: 'number', name: 'text', genre: 'text', locales: 'list' },
  curated_categories: {
    id: 'text',
    name: 'text',
    description: 'text',
    country_codes: 'list',
    publisher_user_ids: 'list',
    videos_monetized_in_last_thirty_days: 'number',
    created_at: 'text',
    updated_at: 'text'
  },
  feature_keys: {
    id: 'text',
    in_sandbox: 'boolean',
    in_filter: 'boolean',
    granted_to_new_sandbox_accounts: 'boolean'
  },
  industry_types: { id: 'text' }
}

type ColumnType = 'text' | 'text or null' | 'number' | 'boolean' | 'list'

const LOOKS_RIGHT: Record<ColumnType, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string' && value !== '',
  'text or null': (value) => value === null || LOOKS_RIGHT.text(value),
  number: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  list: (value) => Array.isArray(value)
}

export const REFERENCE_KINDS = Object.keys(COLUMNS) as ReferenceKind[]

const cache = new Map<ReferenceKind, readonly unknown[]>()

/** The shipped rows of a kind, in the order of the lookup. Read once. */
export function readReference<K extends ReferenceKind>(kind: K): readonly ReferenceRows[K][] {
  let rows = cache.get(kind)
  if (!rows) {
    rows = JSON.parse(readFileSync(new URL(`./data/${kind}.json`, import.meta.url), 'utf8')) as unknown[]
    cache.set(kind, rows)
  }
  return rows as readonly ReferenceRows[K][]
}

/** The id under which a row is stored and looked up. */
export function referenceId<K extends ReferenceKind>(kind: K, row: ReferenceRows[K]): string {
  return String(row[Object.keys(COLUMNS[kind])[0] as keyof ReferenceRows[K]])
}

const PROBLEMS_MAX = 20

/** What is wrong with rows that are to replace a kind; nothing when they may. */
export function checkReference(kind: ReferenceKind, rows: unknown): string[] {
  if (!Array.isArray(rows)) return [`${kind}: expected an array of rows`]
  const problems: string[] = []
  const columns = Object.entries(COLUMNS[kind]) as [string, ColumnType][]
  const ids = new Set<unknown>()
  for (const [position, row] of rows.entries()) {
    if (problems.length >= PROBLEMS_MAX) break
    if (typeof row !== 'object' || row === null) {
      problems.push(`${kind}[${position}]: expected an object`)
      continue
    }
    for (const [key, type] of columns) {
      if (!LOOKS_RIGHT[type](row[key])) problems.push(`${kind}[${position}].${key}: expected ${type}`)
    }
    const id = row[columns[0]![0]]
    if (ids.has(id)) problems.push(`${kind}[${position}]: ${id} occurs twice`)
    ids.add(id)
  }
  return problems.slice(0, PROBLEMS_MAX)
}
