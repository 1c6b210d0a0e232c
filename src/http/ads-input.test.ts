import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bool,
  choice,
  clearable,
  id,
  int,
  list,
  long,
  longId,
  parseTime,
  readInput,
  required,
  text,
  time
} from './ads-input.ts'

const read = (fields: Parameters<typeof readInput>[0], raw: Record<string, unknown>) => readInput(fields, raw)
const message = (fields: Parameters<typeof readInput>[0], raw: Record<string, unknown>) =>
  read(fields, raw).errors.map((error) => error.message)

test('reads every accepted ISO 8601 form and echoes UTC without fractions', () => {
  for (const [given, expected] of [
    ['2022-06-15', '2022-06-15T00:00:00Z'],
    ['2017-07-10T08:00:00-0800', '2017-07-10T16:00:00Z'],
    ['2017-07-10T08:00:00-08:00', '2017-07-10T16:00:00Z'],
    ['2017-07-10T08:00:00-08', '2017-07-10T16:00:00Z'],
    ['2017-07-10T08:00:00+05:30', '2017-07-10T02:30:00Z'],
    ['2017-07-10T08:00:00 0530', '2017-07-10T02:30:00Z'],
    ['2017-07-10T08:00Z', '2017-07-10T08:00:00Z'],
    ['2017-07-10T08:00:00.123Z', '2017-07-10T08:00:00Z']
  ] as const) {
    assert.equal(read({ start_time: time() }, { start_time: given }).params.start_time, expected, given)
  }
})

test('refuses times that do not exist, with the details clients know', () => {
  for (const bad of [
    '2017-02-30',
    '2017-13-01T00:00:00Z',
    'tomorrow',
    '2017-07-10T25:00:00Z',
    '2017-07-10T08:00:00',
    5
  ]) {
    assert.deepEqual(read({ start_time: time() }, { start_time: bad }).errors, [
      {
        code: 'INVALID_PARAMETER',
        message: `Expected time, got "${bad}" for start_time`,
        parameter: 'start_time',
        details: 'invalid date',
        value: String(bad)
      }
    ])
  }
})

test('every instant survives being written and read', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) =>
      assert.equal(parseTime(date.toISOString()), Math.floor(date.getTime() / 1000) * 1000)
    )
  )
})

test('money is exact beyond 2^53 and echoed as a number', () => {
  for (const given of ['9007199254740993', 9007199254740993n]) {
    const { input, params } = read({ amount: long() }, { amount: given })
    assert.equal(input.amount, 9007199254740993n)
    assert.equal(JSON.stringify(params), '{"amount":9007199254740993}')
  }
  assert.deepEqual(message({ amount: long() }, { amount: '1.5' }), ['Expected Long, got "1.5" for amount'])
  assert.deepEqual(message({ amount: long() }, { amount: '99999999999999999999' }), [
    'Expected Long, got "99999999999999999999" for amount'
  ])
})

test('lists come as comma list, repeated key or JSON array', () => {
  for (const given of ['a,b', ['a', 'b'], ['a,b'], ' a , b '])
    assert.deepEqual(read({ ids: list(id()) }, { ids: given }).input.ids, ['a', 'b'])
  assert.deepEqual(message({ ids: list(id()) }, { ids: Array.from({ length: 201 }, (_, i) => `x${i}`).join(',') }), [
    'A maximum of 200 items may be provided for ids'
  ])
  assert.deepEqual(message({ ids: required(list(id())) }, { ids: '' }), [
    'A minimum of 1 items must be provided for ids'
  ])
})

test('booleans come in every spelling clients send', () => {
  for (const yes of ['true', 'True', '1', true, 1]) assert.equal(read({ b: bool() }, { b: yes }).input.b, true)
  for (const no of ['false', 'False', '0', false, 0]) assert.equal(read({ b: bool() }, { b: no }).input.b, false)
  assert.deepEqual(message({ b: bool() }, { b: 'yes' }), ['Expected Boolean, got "yes" for b'])
})

test('an empty string un-sets what can be un-set and is no value otherwise', () => {
  assert.deepEqual(read({ end_time: clearable(time()) }, { end_time: '' }).input, { end_time: null })
  assert.deepEqual(read({ end_time: clearable(time()) }, { end_time: null }).input, { end_time: null })
  assert.deepEqual(read({ end_time: time() }, { end_time: '' }), { input: {}, params: {}, errors: [] })
})

test('reports all problems of a request together and echoes what could be read', () => {
  const fields = {
    name: required(text({ max: 3 })),
    kind: choice(['A', 'B']),
    count: int({ min: 1, max: 1000 }),
    user_id: longId()
  }

  const { params, errors } = read(fields, { kind: 'C', count: '5000', user_id: '42', unknown: 'ignored' })

  assert.deepEqual(
    errors.map((error) => [error.code, error.message]),
    [
      ['MISSING_PARAMETER', '"name" is a required parameter'],
      ['INVALID_PARAMETER', 'Expected a value in {A, B}, got "C" for kind'],
      ['INVALID_PARAMETER', 'Expected a value between 1 and 1000, got "5000" for count']
    ]
  )
  assert.deepEqual(params, { user_id: '42' })
})

test('counts characters as a person does', () => {
  assert.deepEqual(message({ name: text({ max: 3 }) }, { name: '👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦' }), [])
  assert.equal(message({ name: text({ max: 3 }) }, { name: 'abcd' }).length, 1)
  const endless = 'e\u0301'.repeat(1_000_000)
  assert.match(
    message({ name: text({ max: 3 }) }, { name: endless })[0]!,
    /got 2000000 for name$/,
    'not counted through'
  )
})
