/** The operators of the rule language: names, aliases, which can stand alone, and how their values are read. */
import type { ClauseBody, CountOperator, ExactOperator, HasValue, IsValue, TextOperator, UserOperator } from './ast.ts'
import { COUNTRY_CODES, LANG_CODES } from './codes.ts'
import { bagOfText, EMBEDDING_THRESHOLD_DEFAULT } from './embedding.ts'
import { boxSidesKm, KM_PER_MILE } from './geo.ts'
import { tokenize } from './tokens.ts'

export const REGION_MILES_MAX = 25
export const PROXIMITY_MAX = 6

export interface OperatorValue {
  text: string
  form: 'bare' | 'quoted' | 'list'
}

/** Why a value is refused: the end of the sentence "Invalid value 'x' for operator 'y': …". */
export interface Refused {
  refused: string
}

export interface Operator {
  /** The name under which the clause is known; aliases share it. */
  name: string
  standalone: boolean
  read: (value: OperatorValue) => ClauseBody | Refused
}

const refused = (why: string): Refused => ({ refused: why })

const USER = /^(?:[a-z0-9_]{1,15}|[0-9]{1,19})$/i
const NUMERIC_ID = /^[0-9]{1,19}$/
const COUNT = /^([0-9]{1,15})(?:\.\.([0-9]{1,15}))?$/

const user = (type: UserOperator) => (value: OperatorValue) => {
  if (USER.test(value.text)) return { type, value: value.text }
  return refused(
    value.text.startsWith('@')
      ? 'write the username without @'
      : 'expected one username of up to 15 letters, digits and underscores, or a numeric id'
  )
}

const text = (type: TextOperator) => (value: OperatorValue) => {
  const tokens = tokenize(value.text)
  return tokens.length > 0
    ? { type, value: value.text, tokens }
    : refused('it has no letters, digits or emoji to match')
}

const id = (type: ExactOperator) => (value: OperatorValue) =>
  NUMERIC_ID.test(value.text) ? { type, value: value.text } : refused('expected a numeric id')

const literal = (type: ExactOperator) => (value: OperatorValue) =>
  value.text.trim() === '' ? refused('it is empty') : { type, value: value.text }

const oneOf = (type: ExactOperator, codes: ReadonlyMap<string, string>, expected: string) => (value: OperatorValue) => {
  const code = codes.get(value.text.toLowerCase())
  return code === undefined ? refused(expected) : { type, value: code }
}

const count = (type: CountOperator) => (value: OperatorValue) => {
  const [, min, max] = COUNT.exec(value.text) ?? []
  if (min === undefined) return refused('expected a number N or a range N..M')
  if (max === undefined) return { type, min: Number(min) }
  return Number(max) < Number(min)
    ? refused('the range ends before it begins')
    : { type, min: Number(min), max: Number(max) }
}

const atLeast = (type: CountOperator) => (value: OperatorValue) =>
  /^[0-9]{1,15}$/.test(value.text) ? { type, min: Number(value.text) } : refused('expected a number')

function context(value: OperatorValue): ClauseBody | Refused {
  const [, domain, entity] = /^([0-9]+|\*)\.([0-9]+|\*)$/.exec(value.text) ?? []
  if (domain === undefined || entity === undefined || (domain === '*' && entity === '*')) {
    return refused('expected domain.entity, domain.* or *.entity with numeric ids')
  }
  return { type: 'context', domain, entity }
}

const numbersOf = (list: string) => list.trim().split(/\s+/)
const isLongitude = (degrees: number) => degrees >= -180 && degrees <= 180
const isLatitude = (degrees: number) => degrees >= -90 && degrees <= 90
const toNumber = (digits: string | undefined) =>
  digits !== undefined && /^[-+]?[0-9]+(\.[0-9]+)?$/.test(digits) ? Number(digits) : Number.NaN

function pointRadius(value: OperatorValue): ClauseBody | Refused {
  const parts = numbersOf(value.text)
  const [, digits, unit] = /^([0-9]+(?:\.[0-9]+)?)(mi|km)$/i.exec(parts[2] ?? '') ?? []
  if (value.form !== 'list' || parts.length !== 3 || digits === undefined || unit === undefined) {
    return refused('expected [longitude latitude radius] with the radius in mi or km')
  }
  const [longitude, latitude, radius] = [toNumber(parts[0]), toNumber(parts[1]), Number(digits)]
  if (!isLongitude(longitude)) return refused('longitude must be between -180 and 180')
  if (!isLatitude(latitude)) return refused('latitude must be between -90 and 90')
  const miles = unit.toLowerCase() === 'mi' ? radius : radius / KM_PER_MILE
  if (miles === 0 || miles >= REGION_MILES_MAX) return refused(`the radius must be less than ${REGION_MILES_MAX} mi`)
  return { type: 'point_radius', longitude, latitude, radius, unit: unit.toLowerCase() === 'mi' ? 'mi' : 'km' }
}

function boundingBox(value: OperatorValue): ClauseBody | Refused {
  const parts = numbersOf(value.text)
  if (value.form !== 'list' || parts.length !== 4) return refused('expected [west south east north]')
  const [west, south, east, north] = parts.map(toNumber) as [number, number, number, number]
  if (!isLongitude(west) || !isLongitude(east)) return refused('longitude must be between -180 and 180')
  if (!isLatitude(south) || !isLatitude(north)) return refused('latitude must be between -90 and 90')
  if (west >= east || south >= north) return refused('west must be less than east, and south less than north')
  const sides = boxSidesKm([west, south, east, north])
  if (sides.some((km) => km / KM_PER_MILE >= REGION_MILES_MAX)) {
    return refused(`width and height must be less than ${REGION_MILES_MAX} mi`)
  }
  return { type: 'bounding_box', west, south, east, north }
}

function sample(value: OperatorValue): ClauseBody | Refused {
  const percent = /^[0-9]{1,3}$/.test(value.text) ? Number(value.text) : 0
  return percent >= 1 && percent <= 100 ? { type: 'sample', percent } : refused('expected a whole number from 1 to 100')
}

function embedding(value: OperatorValue): ClauseBody | Refused {
  if (bagOfText(value.text).size === 0) return refused('it has no words that carry meaning')
  return { type: 'embedding', text: value.text, threshold: EMBEDDING_THRESHOLD_DEFAULT }
}

function embeddingThreshold(value: OperatorValue): ClauseBody | Refused {
  const threshold = /^(?:[01]|[01]?\.[0-9]{1,4})$/.test(value.text) ? Number(value.text) : Number.NaN
  return threshold >= 0 && threshold <= 1
    ? { type: 'embedding_threshold', threshold }
    : refused('expected a number from 0.00 to 1.00')
}

const byCode = (codes: readonly string[]) => new Map(codes.map((code) => [code.toLowerCase(), code]))

export const IS_VALUES: ReadonlyMap<string, IsValue> = new Map(
  (['retweet', 'reply', 'quote', 'verified', 'nullcast'] as const).map((value) => [value, value])
)

export const HAS_VALUES: ReadonlyMap<string, HasValue> = new Map<string, HasValue>([
  ['hashtags', 'hashtags'],
  ['cashtags', 'cashtags'],
  ['symbols', 'cashtags'],
  ['links', 'links'],
  ['mentions', 'mentions'],
  ['media', 'media'],
  ['media_link', 'media'],
  ['images', 'images'],
  ['video_link', 'video_link'],
  ['videos', 'video_link'],
  ['geo', 'geo']
])

const isOperator = (value: OperatorValue): ClauseBody | Refused => {
  const known = IS_VALUES.get(value.text.toLowerCase())
  return known ? { type: 'is', value: known } : refused(`expected one of ${[...IS_VALUES.keys()].join(', ')}`)
}

const hasOperator = (value: OperatorValue): ClauseBody | Refused => {
  const known = HAS_VALUES.get(value.text.toLowerCase())
  return known ? { type: 'has', value: known } : refused(`expected one of ${[...HAS_VALUES.keys()].join(', ')}`)
}

/** Names (the first is canonical), whether it can stand alone, reader. */
const TABLE: [names: string[], standalone: boolean, read: Operator['read']][] = [
  [['from'], true, user('from')],
  [['to'], true, user('to')],
  [['retweets_of', 'retweets_of_user'], true, user('retweets_of')],
  [['from_affiliate_of'], true, user('from_affiliate_of')],
  [['to_affiliate_of'], true, user('to_affiliate_of')],
  [['url'], true, text('url')],
  [['url_title', 'within_url_title'], true, text('url_title')],
  [['url_description', 'within_url_description'], true, text('url_description')],
  [['url_contains'], true, literal('url_contains')],
  [['context'], true, context],
  [['entity'], true, text('entity')],
  [['conversation_id'], true, id('conversation_id')],
  [['bio', 'user_bio'], true, text('bio')],
  [['bio_name'], true, text('bio_name')],
  [['bio_location', 'user_bio_location'], true, text('bio_location')],
  [['place'], true, text('place')],
  [['place_country'], true, oneOf('place_country', byCode(COUNTRY_CODES), 'expected an ISO alpha-2 country code')],
  [['point_radius'], true, pointRadius],
  [['bounding_box', 'geo_bounding_box'], true, boundingBox],
  [['in_reply_to_tweet_id', 'in_reply_to_status_id'], true, id('in_reply_to_tweet_id')],
  [['retweets_of_tweet_id', 'retweets_of_status_id'], true, id('retweets_of_tweet_id')],
  [['followers_count'], true, count('followers_count')],
  [['tweets_count', 'statuses_count'], true, count('tweets_count')],
  [['following_count', 'friends_count'], true, count('following_count')],
  [['listed_count', 'user_in_lists_count'], true, count('listed_count')],
  [['min_followers'], true, atLeast('min_followers')],
  [['min_likes'], true, atLeast('min_likes')],
  [['min_replies'], true, atLeast('min_replies')],
  [['min_reposts'], true, atLeast('min_reposts')],
  [['embedding'], true, embedding],
  [['is'], false, isOperator],
  [['has'], false, hasOperator],
  [['lang'], false, oneOf('lang', byCode(LANG_CODES), 'it is not a supported language code')],
  [['source'], false, literal('source')],
  [['sample'], false, sample],
  [['embedding_threshold'], false, embeddingThreshold]
]

export const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  TABLE.flatMap(([names, standalone, read]) =>
    names.map((name): [string, Operator] => [name, { name: names[0] as string, standalone, read }])
  )
)

/** Operators that other products have and streams refuse, with what to do instead. */
export const REFUSED_OPERATORS: ReadonlyMap<string, string> = new Map([
  ['min_faves', 'Use min_likes: instead'],
  ['min_retweets', 'Use min_reposts: instead'],
  ['list', 'It is available in search only'],
  ['quotes_of_tweet_id', 'It is available in search only']
])

/** The clause types that need a standalone operator beside them. */
export const CONJUNCTION_REQUIRED: ReadonlySet<string> = new Set(
  [...OPERATORS.values()].filter((operator) => !operator.standalone).map((operator) => operator.name)
)
