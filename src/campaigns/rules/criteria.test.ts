import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReference } from '../reference/load.ts'
import { type CriteriaContext, type Criterion, validateCriteria } from './criteria.ts'
import { targetingLookups } from './lookups.ts'
import { ruleReference } from './reference.ts'
import {
  AGE_BUCKETS,
  ageRange,
  ENGAGEMENT_TYPES,
  impliedPlatforms,
  isKeyword,
  isPrimary,
  TARGETING_TYPES
} from './targeting.ts'

const US = '96683cc9126741d1'
const context: CriteriaContext = {
  lookups: targetingLookups(readReference),
  reference: ruleReference(readReference),
  curated: false,
  batch: false
}
const criterion = (targeting_type: string, targeting_value: string, operator_type?: string): Criterion => ({
  targeting_type,
  targeting_value,
  ...(operator_type ? { operator_type } : {})
})
const told = (added: Criterion[], existing: Criterion[] = [], more: Partial<CriteriaContext> = {}) =>
  validateCriteria(added, existing, { ...context, ...more }).map((items) =>
    items.map((item) => `${item.code} ${item.parameter ?? item.attribute}`)
  )
const many = (type: string, values: string[]) => values.map((value) => criterion(type, value))
const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1))
const usShow = String(readReference('tv_shows').find((show) => show.locales.includes('en-US'))!.targeting_value)
const japan = readReference('locations').find((row) => row.name === 'Japan')!.targeting_value
const interests = readReference('interests').map((row) => row.targeting_value)

type Case = [rule: string, added: Criterion, existing: Criterion[], expected: string[], more?: Partial<CriteriaContext>]
const CASES: Case[] = [
  ['operator_type is EQ unless told', criterion('LOCATION', US), [], []],
  ['operator_type may be NE', criterion('LOCATION', US, 'NE'), [], []],
  ['operator_type is one of four', criterion('LOCATION', US, 'IN'), [], ['INVALID_PARAMETER operator_type']],
  ['GTE is only for durations', criterion('LOCATION', US, 'GTE'), [], ['INVALID_PARAMETER operator_type']],
  ['targeting_type is required', criterion('', US), [], ['MISSING_PARAMETER targeting_type']],
  ['targeting_value is required', criterion('LOCATION', ''), [], ['MISSING_PARAMETER targeting_value']],
  ['the type is known', criterion('MOOD', 'good'), [], ['INVALID_TARGETING_TYPE targeting_type']],
  ['a type is not a property of objects', criterion('constructor', 'x'), [], ['INVALID_TARGETING_TYPE targeting_type']],
  [
    'a location comes from the lookup',
    criterion('LOCATION', 'ffffffffffffffff'),
    [],
    ['INVALID_PARAMETER targeting_value']
  ],
  ['an interest comes from the lookup', criterion('INTEREST', '9999'), [], ['INVALID_PARAMETER targeting_value']],
  ['a gender is 1 or 2', criterion('GENDER', '3'), [], ['INVALID_PARAMETER targeting_value']],
  ['gender 2', criterion('GENDER', '2'), [], []],
  ...AGE_BUCKETS.map((bucket): Case => [`age ${bucket}`, criterion('AGE', bucket), [], []]),
  ['ages are buckets', criterion('AGE', '25'), [], ['INVALID_PARAMETER targeting_value']],
  [
    'one age bucket per line item',
    criterion('AGE', 'AGE_OVER_13'),
    [criterion('AGE', 'AGE_OVER_18')],
    ['INVALID targeting_type']
  ],
  ['followers are of a user', criterion('FOLLOWERS_OF_USER', 'bob'), [], ['INVALID_PARAMETER targeting_value']],
  ['followers of 42', criterion('FOLLOWERS_OF_USER', '42'), [], []],
  ['keywords are any text', criterion('BROAD_KEYWORD', 'coffee beans'), [], []],
  ['keywords do not start blank', criterion('BROAD_KEYWORD', ' coffee'), [], ['INVALID_PARAMETER targeting_value']],
  ['APP_LIST only excludes', criterion('APP_LIST', 'abc'), [], ['INVALID_PARAMETER operator_type']],
  ['APP_LIST with NE', criterion('APP_LIST', 'abc', 'NE'), [], []],
  ['a duration is compared', criterion('NETWORK_ACTIVATION_DURATION', '3', 'LT'), [], []],
  ['a duration is not equal', criterion('NETWORK_ACTIVATION_DURATION', '3'), [], ['INVALID_PARAMETER operator_type']],
  ...ENGAGEMENT_TYPES.map(
    (type): Case => [
      `engagement type ${type}`,
      criterion('ENGAGEMENT_TYPE', type),
      [criterion('CAMPAIGN_ENGAGEMENT', 'f4z6x')],
      []
    ]
  ),
  [
    'ENGAGEMENT_TYPE needs an engagement beside it',
    criterion('ENGAGEMENT_TYPE', 'IMPRESSION'),
    [],
    ['INVALID targeting_type']
  ],
  ['IAB_CATEGORY only in a batch', criterion('IAB_CATEGORY', 'IAB2'), [], ['INVALID_PARAMETER targeting_type']],
  ['IAB_CATEGORY as a whole content category', criterion('IAB_CATEGORY', 'IAB2'), [], [], { batch: true }],
  ['IAB_CATEGORY not in part', criterion('IAB_CATEGORY', 'IAB5'), [], ['INVALID targeting_value'], { batch: true }],
  [
    'IAB_CATEGORY not beside a curated category',
    criterion('IAB_CATEGORY', 'IAB2'),
    [],
    ['INVALID targeting_type'],
    { batch: true, curated: true }
  ],
  [
    'CONTENT_PUBLISHER_USER only excludes',
    criterion('CONTENT_PUBLISHER_USER', '42'),
    [],
    ['INVALID_PARAMETER operator_type'],
    { batch: true }
  ],
  [
    '5 publishers are excluded from a curated category',
    criterion('CONTENT_PUBLISHER_USER', '42', 'NE'),
    many('CONTENT_PUBLISHER_USER', numbers(4)),
    [],
    { batch: true, curated: true }
  ],
  [
    'no 6 publishers from a curated category',
    criterion('CONTENT_PUBLISHER_USER', '42', 'NE'),
    many('CONTENT_PUBLISHER_USER', numbers(5)),
    ['INVALID targeting_type'],
    { batch: true, curated: true }
  ],
  [
    'no 51 publishers from content categories',
    criterion('CONTENT_PUBLISHER_USER', '42', 'NE'),
    many('CONTENT_PUBLISHER_USER', numbers(50)),
    ['INVALID targeting_type'],
    { batch: true }
  ],
  ['a TV show needs a location first', criterion('TV_SHOW', usShow), [], ['INVALID_TV_SHOW_LOCATIONS targeting_value']],
  ['a TV show in its market', criterion('TV_SHOW', usShow), [criterion('LOCATION', US)], []],
  [
    'a TV show outside its market',
    criterion('TV_SHOW', usShow),
    [criterion('LOCATION', japan)],
    ['TV_SHOW_OUTSIDE_MARKET targeting_value']
  ],
  [
    'a TV show in a location that is excluded',
    criterion('TV_SHOW', usShow),
    [criterion('LOCATION', US, 'NE')],
    ['INVALID_TV_SHOW_LOCATIONS targeting_value']
  ],
  [
    'a TV show with other criteria only',
    criterion('TV_SHOW', usShow),
    [criterion('GENDER', '1')],
    ['INVALID_TV_SHOW_LOCATIONS targeting_value']
  ],
  [
    'CONTENT_PUBLISHER_USER only in a batch',
    criterion('CONTENT_PUBLISHER_USER', '42', 'NE'),
    [],
    ['INVALID_PARAMETER targeting_type']
  ],
  ['100 interests', criterion('INTEREST', '1150'), many('INTEREST', interests.slice(0, 99)), []],
  [
    'no 101 interests',
    criterion('INTEREST', '1150'),
    many('INTEREST', interests.slice(0, 100)),
    ['INVALID targeting_type']
  ],
  [
    'no 101 similar users',
    criterion('SIMILAR_TO_FOLLOWERS_OF_USER', '500'),
    many('SIMILAR_TO_FOLLOWERS_OF_USER', numbers(100)),
    ['INVALID targeting_type']
  ],
  ['2,000 locations', criterion('LOCATION', US), many('LOCATION', numbers(1_999)), []],
  ['no 2,001 locations', criterion('LOCATION', US), many('LOCATION', numbers(2_000)), ['INVALID targeting_type']],
  [
    'no 1,001 keywords, of whatever kind',
    criterion('EXACT_KEYWORD', 'last'),
    [...many('BROAD_KEYWORD', numbers(500)), ...many('PHRASE_KEYWORD', numbers(500))],
    ['INVALID targeting_type']
  ],
  [
    'one event',
    criterion('EVENT', readReference('events')[0]!.targeting_value),
    [criterion('EVENT', readReference('events')[1]!.targeting_value)],
    ['INVALID targeting_type']
  ]
]
for (const [rule, added, existing, expected, more] of CASES) {
  test(`targeting: ${rule}`, () => assert.deepEqual(told([added], existing, more), [expected]))
}

test('targeting: problems are index-aligned, limits count within the batch, and later criteria may rely on earlier ones', () => {
  const batch = [
    criterion('LOCATION', US),
    criterion('TV_SHOW', usShow),
    criterion('AGE', 'AGE_OVER_13'),
    criterion('AGE', 'AGE_OVER_18')
  ]

  assert.deepEqual(told(batch), [[], [], [], ['INVALID targeting_type']])
  assert.deepEqual(told(batch.slice(0, 2).reverse()), [['INVALID_TV_SHOW_LOCATIONS targeting_value'], []])
  assert.deepEqual(told(many('IAB_CATEGORY', ['IAB5', 'IAB15']), [], { batch: true }), [[], []])
})

test('targeting: a rejected criterion does not use up a limit', () => {
  assert.deepEqual(told([criterion('AGE', 'old'), criterion('AGE', 'AGE_OVER_13')]), [
    ['INVALID_PARAMETER targeting_value'],
    []
  ])
})

test('targeting: follower types, custom audiences, interests, keywords and TV are primary, nothing else', () => {
  assert.deepEqual(Object.keys(TARGETING_TYPES).filter(isPrimary), [
    'BROAD_KEYWORD',
    'CUSTOM_AUDIENCE',
    'CUSTOM_AUDIENCE_EXPANDED',
    'EXACT_KEYWORD',
    'FOLLOWERS_OF_USER',
    'INTEREST',
    'LIVE_TV_EVENT',
    'PHRASE_KEYWORD',
    'SIMILAR_TO_FOLLOWERS_OF_USER',
    'TV_SHOW',
    'UNORDERED_KEYWORD'
  ])
})

test('targeting: four types are keywords', () => {
  assert.deepEqual(Object.keys(TARGETING_TYPES).filter(isKeyword), [
    'BROAD_KEYWORD',
    'EXACT_KEYWORD',
    'PHRASE_KEYWORD',
    'UNORDERED_KEYWORD'
  ])
})

test('targeting: age buckets are ranges of years', () => {
  assert.deepEqual(ageRange('AGE_13_TO_24'), [13, 24])
  assert.deepEqual(ageRange('AGE_OVER_50'), [50, 200])
})

test('targeting: an app store identifier implies its platform', () => {
  const both = impliedPlatforms({ ios_app_store_identifier: '1', android_app_store_identifier: 'com.example' })

  assert.deepEqual(
    both.map((one) => one.targeting_value),
    ['0', '1']
  )
  assert.deepEqual(impliedPlatforms({ ios_app_store_identifier: null, android_app_store_identifier: null }), [])
})
