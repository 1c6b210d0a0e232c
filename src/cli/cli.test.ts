import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { url } = await testDatabase({ after })
const dataDir = mkdtempSync(path.join(tmpdir(), 'herald-cli-'))

const herald = (...args: string[]) =>
  spawnSync(process.execPath, ['src/cli.ts', ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: url,
      HERALD_DATA_DIR: dataDir,
      NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/herald')
    }
  })

test('explains itself', () => {
  const { stdout, status } = herald('--help')

  assert.equal(status, 0)
  for (const command of [
    'serve',
    'migrate',
    'demo',
    'app create',
    'user create',
    'token create',
    'access create',
    'event publish',
    'clock'
  ])
    assert.match(stdout, new RegExp(`^  ${command}`, 'm'))
  assert.match(herald('app', 'create', '--help').stdout, /--owner/)
})

test('an unknown command is an error with a hint', () => {
  const { stderr, status } = herald('bake')

  assert.equal(status, 2)
  assert.match(stderr, /there is no command "bake"; npx herald --help/)
})

test('makes an app, a user and a token, for people and for programs', () => {
  const app = JSON.parse(herald('app', 'create', 'My bot', '--json').stdout)
  const user = JSON.parse(herald('user', 'create', 'ann', '--json').stdout)
  const token = JSON.parse(
    herald(
      'token',
      'create',
      '--kind',
      'oauth2',
      '--app',
      app.id,
      '--user',
      user.id,
      '--scopes',
      'tweet.read',
      '--json'
    ).stdout
  )
  const list = herald('app', 'list').stdout

  assert.ok(app.consumer_secret && app.bearer_token)
  assert.ok(token.access_token)
  assert.match(list, /^id\s+name/)
  assert.match(list, /My bot/)
  assert.ok(!list.includes(app.consumer_secret))
})

test('a mistake is one sentence, not a stack', () => {
  const { stderr, status } = herald('token', 'create', '--kind', 'oauth2')

  assert.equal(status, 1)
  assert.equal(stderr.trim(), 'herald: --app is missing; add --help to see how the command is used')
})

test('imports a population for audience estimates, and says which line is wrong', () => {
  const file = path.join(dataDir, 'people.ndjson')
  writeFileSync(file, '{"INTEREST":["1001"],"AGE":[34]}\n{"INTEREST":["1001"]}\n')

  assert.deepEqual(JSON.parse(herald('audience', 'import', file, '--json').stdout), { people: 2, held: 2 })
  assert.match(herald('audience', 'reset').stdout, /generated population/)
  writeFileSync(file, '{"INTEREST":["1001"]}\n{"MOOD":["happy"]}\n')
  const { stderr, status } = herald('audience', 'import', file)
  assert.notEqual(status, 0)
  assert.match(stderr, /line 2/)
})
