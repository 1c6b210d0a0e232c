/** Herald as people run it: a process, a data directory, signals. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeEmbedded } from '../../src/storage/embedded.ts'

const root = path.resolve(import.meta.dirname, '../..')
const port = 21_000 + (process.pid % 9_000) * 2
const base = `http://127.0.0.1:${port}`

const environment = (dataDir: string) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  HERALD_DATA_DIR: dataDir,
  HERALD_PORT: String(port),
  HERALD_SANDBOX_PORT: String(port + 1)
})

async function start(dataDir: string) {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: environment(dataDir),
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  for (let tries = 0; tries < 600; tries++) {
    if (
      await fetch(`${base}/readyz`).then(
        (response) => response.ok,
        () => false
      )
    )
      return { child, printed: () => printed }
    if (child.exitCode !== null) break
    await sleep(50)
  }
  throw new Error(`Herald is not ready: ${printed}`)
}

const ended = (child: ChildProcess) =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve([child.exitCode])

/** The first data page of the cluster's control file tells where the postmaster is; the test only needs its pid. */
async function postmasterPid(dataDir: string) {
  const pointer = await readFile(path.join(dataDir, 'postgres-location'), 'utf8').catch(() =>
    path.join(dataDir, 'postgres')
  )
  return Number((await readFile(path.join(pointer.trim(), 'cluster', 'postmaster.pid'), 'utf8')).split('\n', 1)[0])
}

test('starts on an empty directory, survives SIGKILL and the death of its database, and stops with 0', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-serve-'))
  const running: ChildProcess[] = []
  t.after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await removeEmbedded(dataDir)
  })

  const first = await start(dataDir)
  running.push(first.child)
  const file = path.join(dataDir, 'credentials.json')
  const credentials = JSON.parse(await readFile(file, 'utf8'))
  const list = () =>
    fetch(`${base}/2/webhooks`, { headers: { authorization: `Bearer ${credentials.app.bearer_token}` } })

  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.match(first.printed(), /Your first call:/)
  for (const secret of [credentials.admin_token, credentials.app.consumer_secret, credentials.user.access_token]) {
    assert.ok(!first.printed().includes(secret), 'a secret is printed')
  }
  assert.deepEqual(await (await list()).json(), { data: [], meta: { result_count: 0 } })
  const accounts = await fetch(`http://127.0.0.1:${port + 1}/12/accounts`, {
    headers: { authorization: `Bearer ${credentials.user.access_token}` }
  })
  assert.equal(((await accounts.json()) as { data: { id: string }[] }).data[0]?.id, credentials.accounts.sandbox)

  first.child.kill('SIGKILL')
  await ended(first.child)
  const second = await start(dataDir)
  running.push(second.child)
  assert.equal((await list()).status, 200, 'the same credentials work after a crash')
  assert.ok(!second.printed().includes('Your first call'), 'the demo tenant is made once')

  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  const statuses = new Set<number>()
  for (let tries = 0; tries < 100; tries++) {
    const response = await list()
    statuses.add(response.status)
    if (response.status === 503) assert.ok(response.headers.get('retry-after'))
    if (response.status === 200 && statuses.has(503)) break
    await sleep(50)
  }
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 503),
    []
  )
  assert.equal((await list()).status, 200, 'work resumes without a restart of Herald')

  second.child.kill('SIGTERM')
  const [code] = await ended(second.child)
  assert.equal(code, 0)
})

test('a bad setting stops the start with a sentence', () => {
  const { status, stderr } = spawnSync(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, HERALD_PORT: 'eighty' },
    encoding: 'utf8',
    timeout: 20_000
  })

  assert.notEqual(status, 0)
  assert.equal(stderr.trim(), 'HERALD_PORT is "eighty"; it must be a whole number from 0 to 65535.')
})
