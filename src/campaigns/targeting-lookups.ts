/** Targeting lookups: the values that criteria take. The same for every account; answered from the reference rows. */
import type { TSchema } from 'typebox'
import { ADS_LIMITS, type AdsScope } from '../http/ads.ts'
import { choice, type Fields, int, list, required, text, time } from '../http/ads-input.ts'
import { pageOf } from './lookups.ts'
import type { ReferenceKind, ReferenceRows } from './reference/types.ts'
import { countryCode } from './reference-routes.ts'
import type { ReferenceStore } from './reference-store.ts'
import { TARGETING_TYPES, type TargetingRule } from './rules/targeting.ts'
import { suggest } from './targeting-suggestions.ts'
import { Bool, Entity, folded, Int, IntOrNull, Text, TextOrNull, Texts } from './wire.ts'

export const EVENT_TYPES = [
  'CONFERENCE',
  'HOLIDAY',
  'MUSIC_AND_ENTERTAINMENT',
  'OTHER',
  'POLITICS',
  'RECURRING',
  'SPORTS'
] as const
export const LOCATION_TYPES = ['COUNTRIES', 'REGIONS', 'METROS', 'CITIES', 'POSTAL_CODES'] as const
export const OS_TYPES = ['ANDROID', 'IOS'] as const
export const CONVERSATION_TYPES = [
  'ACTORS',
  'ATHLETES',
  'BOOK_GENRES',
  'BOOKS',
  'BRAND_CATEGORIES',
  'BRANDS',
  'CELEBRITIES',
  'COACHES',
  'DIGITAL_CREATORS',
  'ENTERTAINMENT_BRANDS',
  'ENTERTAINMENT_PERSONALITIES',
  'FICTIONAL_CHARACTERS',
  'JOURNALISTS',
  'LIFESTYLES',
  'MOVIE_GENRES',
  'MOVIES',
  'MUSIC_GENRES',
  'MUSICIANS',
  'NEWS_STORIES',
  'NEWS',
  'PERSONS',
  'PLACES',
  'PODCASTS',
  'POLITICAL_AFFILIATIONS',
  'POLITICIANS',
  'PRODUCTS',
  'RADIO_STATIONS',
  'SPORTS_LEAGUES',
  'SPORTS_PERSONALITIES',
  'SPORTS_TEAMS',
  'SPORTS',
  'TRENDS',
  'TV_SHOWS',
  'VIDEO_GAME_PLATFORMS',
  'VIDEO_GAME_PUBLISHERS',
  'VIDEO_GAMES'
] as const

const option = { name: Text, targeting_type: Text, targeting_value: Text }
const paging = { count: int({ min: 1, max: 1000 }), cursor: text({ max: 500 }) }
const q = text()

type Input = Record<string, unknown>

interface Lookup<K extends ReferenceKind> {
  kind: K
  summary: string
  input: Fields
  output: TSchema
  data_type?: string
  countDefault?: number
  /** Whether a row is wanted; `q` is looked for in names everywhere. */
  wanted?: (row: ReferenceRows[K], input: Input, now: string) => boolean
  echo?: (params: Record<string, unknown>) => unknown
  limit?: typeof ADS_LIMITS.lookups | typeof ADS_LIMITS.globalReads
}

const lookup = <K extends ReferenceKind>(of: Lookup<K>) => of as unknown as Lookup<ReferenceKind>

const equal = (wanted: unknown, value: string) => wanted === undefined || wanted === value

export const LOOKUPS = [
  lookup({
    kind: 'app_store_categories',
    summary: 'Categories of the app stores.',
    input: { q, os_type: choice(OS_TYPES) },
    output: Entity({ ...option, os_type: Text }),
    wanted: (row, input) => equal(input.os_type, row.os_type)
  }),
  lookup({
    kind: 'conversations',
    summary: 'Topics that people talk about.',
    input: { ...paging, q, conversation_type: choice(CONVERSATION_TYPES) },
    output: Entity({ ...option, conversation_type: Text }),
    wanted: (row, input) => equal(input.conversation_type, row.conversation_type)
  }),
  lookup({
    kind: 'devices',
    summary: 'Devices.',
    input: { ...paging, q },
    output: Entity({ ...option, manufacturer: Text, os_type: Text })
  }),
  lookup({
    kind: 'events',
    summary: 'Events that have not ended, by default from now on.',
    input: {
      ...paging,
      event_types: list(choice(EVENT_TYPES)),
      country_codes: list(countryCode()),
      start_time: time(),
      end_time: time()
    },
    output: Entity({
      ...option,
      id: Text,
      event_type: Text,
      start_time: Text,
      end_time: Text,
      is_global: Bool,
      country_codes: Texts
    }),
    data_type: 'events',
    wanted: (row, input, now) => {
      const { event_types: types, country_codes: countries, start_time = now, end_time } = input
      return (
        (types === undefined || (types as string[]).includes(row.event_type)) &&
        (countries === undefined ||
          row.is_global ||
          (countries as string[]).some((code) => row.country_codes.includes(code))) &&
        row.end_time > (start_time as string) &&
        (end_time === undefined || row.start_time < (end_time as string))
      )
    }
  }),
  lookup({ kind: 'interests', summary: 'Interests.', input: { ...paging, q }, output: Entity(option) }),
  lookup({ kind: 'languages', summary: 'Languages.', input: { ...paging, q }, output: Entity(option) }),
  lookup({
    kind: 'locations',
    summary: 'Countries, regions, metros, cities and postal codes.',
    input: { ...paging, q, location_type: choice(LOCATION_TYPES), country_code: countryCode() },
    output: Entity({ ...option, country_code: Text, location_type: Text }),
    wanted: (row, input) => equal(input.location_type, row.location_type) && equal(input.country_code, row.country_code)
  }),
  lookup({
    kind: 'network_operators',
    summary: 'Network operators of a country, the United States by default.',
    input: { ...paging, q, country_code: countryCode() },
    output: Entity({ ...option, country_code: Text }),
    wanted: (row, input) => (input.country_code ?? 'US') === row.country_code
  }),
  lookup({
    kind: 'platform_versions',
    summary: 'Versions of platforms.',
    input: { q },
    output: Entity({ ...option, number: Text, os_type: Text }),
    data_type: 'targeting_criterion'
  }),
  lookup({
    kind: 'platforms',
    summary: 'Platforms.',
    input: { ...paging, q, lang: text({ max: 10 }) },
    output: Entity(option)
  }),
  lookup({
    kind: 'tv_markets',
    summary: 'Markets of TV shows.',
    input: {},
    output: Entity({ name: Text, country_code: Text, locale: Text }),
    limit: ADS_LIMITS.globalReads
  }),
  lookup({
    kind: 'tv_shows',
    summary: 'TV shows of a market.',
    input: { locale: required(text({ max: 10 })), q, count: int({ min: 1, max: 50 }), cursor: paging.cursor },
    output: Entity({ name: Text, targeting_value: Int, genre: Text, locales: Texts }),
    countDefault: 50,
    wanted: (row, input) => row.locales.includes(String(input.locale)),
    echo: ({ locale, ...params }) => {
      const [languageCode, countryCode] = String(locale).split('-')
      return { ...params, ...(locale === undefined ? {} : { locale: { countryCode, languageCode } }) }
    },
    limit: ADS_LIMITS.globalReads
  })
]

export const SUGGESTION_TYPES = ['KEYWORD', 'USER_ID'] as const

/** Below /12. */
const lookupPath = (kind: ReferenceKind) => (kind === 'iab_categories' ? `/${kind}` : `/targeting_criteria/${kind}`)

/** Values come from a lookup, from `values`, or are a text of the form that `expects` says. */
const TargetingType = Entity({
  targeting_type: Text,
  primary: Bool,
  operator_types: Texts,
  lookup: TextOrNull,
  values: Texts,
  expects: TextOrNull,
  max: IntOrNull,
  batch_only: Bool
})

const targetingType = ([targeting_type, { primary, operators, values, max, batchOnly }]: [string, TargetingRule]) => ({
  targeting_type,
  primary,
  operator_types: operators,
  lookup: 'lookup' in values ? lookupPath(values.lookup) : null,
  values: 'values' in values ? values.values : [],
  expects: 'what' in values ? values.what : null,
  max: max ?? null,
  batch_only: batchOnly ?? false
})

export function targetingLookupRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { clock } = scope.deps
  for (const { kind, summary, input: fields, output, wanted, countDefault = 200, ...more } of LOOKUPS) {
    scope.route({
      method: 'GET',
      path: `/targeting_criteria/${kind}`,
      summary,
      input: fields,
      output,
      many: true,
      extension: true,
      limit: ADS_LIMITS.lookups,
      ...more,
      handler: async ({ input }) => {
        const { count, cursor, ...filters } = input as Input & { count?: number; cursor?: string }
        const needle = filters.q === undefined ? undefined : folded(String(filters.q))
        const now = new Date(clock.now()).toISOString()
        const rows = ((await reference.load()).rows(kind) as readonly { name: string }[]).filter(
          (row) =>
            (needle === undefined || folded(row.name).includes(needle)) && (wanted?.(row as never, input, now) ?? true)
        )
        const page = { ...(count ? { count } : {}), ...(cursor ? { cursor } : {}) }
        return pageOf(rows, page, { of: `${kind} ${JSON.stringify(filters)}`, countDefault })
      }
    })
  }

  scope.route({
    method: 'GET',
    path: '/targeting_criteria/types',
    summary: 'Targeting types: which are primary, how they compare, and where their values come from.',
    output: TargetingType,
    many: 'without_cursor',
    extension: true,
    handler: async () => ({ rows: Object.entries(TARGETING_TYPES).map(targetingType) })
  })

  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/targeting_suggestions',
    summary: 'Keywords or users like the given ones.',
    input: {
      suggestion_type: required(choice(SUGGESTION_TYPES)),
      targeting_values: required(list(text({ max: 150 }), { max: 50 })),
      count: int({ min: 1, max: 50 })
    },
    output: Entity({ suggestion_type: Text, suggestion_value: Text }),
    many: 'without_cursor',
    operation: 'campaigns.read',
    extension: true,
    handler: async ({ input }) => ({
      rows: suggest(await reference.load(), input.suggestion_type, input.targeting_values).slice(0, input.count ?? 30)
    })
  })
}
