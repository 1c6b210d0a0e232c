import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, loadConfig, parseDuration, printConfiguration, settings, unknownSettings } from './config.ts'

test('has a default for everything', () => {
  const config = loadConfig({})

  assert.equal(config.HERALD_PORT, 8080)
  assert.deepEqual(config.HERALD_DELIVERY_RETRIES, [3_000, 27_000, 242_000])
  assert.deepEqual(config.HERALD_ROLES, ['api', 'deliver', 'work'])
})

for (const [name, value, sentence] of [
  ['HERALD_PORT', 'eighty', /HERALD_PORT is "eighty"; it must be a whole number from 0 to 65535/],
  ['HERALD_PORT', '70000', /whole number/],
  ['HERALD_ROLES', 'api,cook', /HERALD_ROLES.*comma list out of api, deliver, work/],
  ['HERALD_RATE_LIMITS', 'maybe', /one of on, off/],
  ['HERALD_TEST_CLOCK', 'perhaps', /must be 1 or 0/],
  ['HERALD_EGRESS_RESOLVE', 'nonsense', /hooks.example.test=127.0.0.1:9443/],
  ['HERALD_DELIVERY_DEADLINE', 'soon', /duration such as/],
  ['HERALD_RECORDS_RETENTION', '1h', /at least 24h/]
] as const) {
  test(`stops the start when ${name} is ${value}, and says why`, () => {
    assert.throws(
      () => loadConfig({ [name]: value }),
      (error) => error instanceof ConfigError && sentence.test(error.message)
    )
  })
}

test('reports all bad settings together', () => {
  assert.throws(
    () => loadConfig({ HERALD_PORT: 'x', HERALD_SANDBOX_PORT: 'y' }),
    (error) => (error as Error).message.split('\n').length === 2
  )
})

test('maps host names to addresses and ports', () => {
  const { HERALD_EGRESS_RESOLVE } = loadConfig({
    HERALD_EGRESS_RESOLVE: 'Hooks.Example.test=127.0.0.1:9443,six.test=[::1]'
  })

  assert.deepEqual(
    [...HERALD_EGRESS_RESOLVE],
    [
      ['hooks.example.test', { address: '127.0.0.1', port: 9443 }],
      ['six.test', { address: '::1' }]
    ]
  )
})

test('durations add up', () => {
  assert.equal(parseDuration('1h30m'), 5_400_000)
  assert.equal(parseDuration('28h'), 100_800_000)
  assert.equal(parseDuration('10'), undefined)
})

test('points at names that look like settings but are not', () => {
  assert.deepEqual(unknownSettings({ HERALD_PROT: '1', HERALD_PORT: '1', PATH: '/bin' }), ['HERALD_PROT'])
})

test('prints every setting', () => {
  const page = printConfiguration()

  for (const group of Object.values(settings))
    for (const name of Object.keys(group)) assert.ok(page.includes(`\`${name}\``), name)
})
