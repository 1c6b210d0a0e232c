/**
 * `npm test`: the checks, then every test on a PostgreSQL of its own. `npm test -- file …` runs only those files.
 * What the tests print also goes to .test-data/output.log.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { isAlive } from '../src/storage/embedded/postmaster.ts'
import { removeEmbedded, startEmbedded } from '../src/storage/embedded.ts'
import { TEST_DATA_DIR, TEST_SERVER } from '../test/server.ts'

const root = path.resolve(import.meta.dirname, '..')
const FILES = ['src/**/*.test.ts', 'test/**/*.test.ts']
const CONCURRENCY = 2
/** A test that hangs must not hang the run. */
const TEST_TIMEOUT_MS = 180_000

/** One directory per run, so that runs at the same time do not stop each other's server. */
const RUN_PREFIX = 'run-'

async function removeRun(directory: string) {
  await removeEmbedded(directory)
  await rm(directory, { recursive: true, force: true })
}

/** Runs that were killed leave their server behind. */
async function sweep() {
  for (const name of await readdir(TEST_DATA_DIR)) {
    const pid = Number(name.slice(RUN_PREFIX.length))
    if (name.startsWith(RUN_PREFIX) && !isAlive(pid)) await removeRun(path.join(TEST_DATA_DIR, name))
  }
}

async function startServer() {
  if (process.env.HERALD_TEST_DATABASE_URL || process.env.DATABASE_URL) return undefined
  await sweep()
  const dataDir = path.join(TEST_DATA_DIR, `${RUN_PREFIX}${process.pid}`)
  const server = await startEmbedded({ ...TEST_SERVER, dataDir })
  return {
    url: server.url,
    async stop() {
      await server.stop()
      await removeRun(dataDir)
    }
  }
}

function runTests(files: string[], env: NodeJS.ProcessEnv) {
  const args = ['--test', `--test-concurrency=${CONCURRENCY}`, `--test-timeout=${TEST_TIMEOUT_MS}`, ...files]
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = spawn(process.execPath, args, {
    cwd: root,
    // Most of what a test file costs is loading Herald; the second one finds it compiled.
    env: { NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/herald'), ...process.env, ...colour, ...env },
    stdio: ['inherit', 'pipe', 'pipe']
  })
  const output = createWriteStream(path.join(TEST_DATA_DIR, 'output.log'))
  for (const [stream, screen] of [[child.stdout, process.stdout] as const, [child.stderr, process.stderr] as const]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      screen.write(text)
      output.write(stripVTControlCharacters(text))
    })
  }
  // The children of an interrupted run end by themselves; we stay to stop the server.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise<number>((resolve) => {
    child.on('close', (code) => output.end(() => resolve(code ?? 1)))
  })
}

/** None of the secrets that the tests made may be in what the tests printed. */
async function leakedSecrets(secretsFile: string) {
  const secrets = new Set((await readFile(secretsFile, 'utf8').catch(() => '')).split('\n').filter(Boolean))
  const output = await readFile(path.join(TEST_DATA_DIR, 'output.log'), 'utf8')
  const leaked = [...secrets].filter((secret) => output.includes(secret))
  console.log(`${secrets.size} secrets were made by the tests; ${leaked.length} of them are in the output`)
  return leaked.length
}

await mkdir(TEST_DATA_DIR, { recursive: true })
const secretsFile = path.join(TEST_DATA_DIR, `secrets-${process.pid}`)
const files = process.argv.slice(2)
const checks =
  files.length > 0 ? 0 : spawnSync(process.execPath, ['scripts/check.ts'], { cwd: root, stdio: 'inherit' }).status
// Servers build the console when they listen; once and beforehand, so that tests do not do it side by side.
spawnSync(process.execPath, ['scripts/console.ts'], { cwd: root, stdio: 'inherit' })
const server = await startServer()
try {
  const tests = await runTests(files.length > 0 ? files : FILES, {
    HERALD_TEST_SECRETS_FILE: secretsFile,
    ...(server ? { HERALD_TEST_DATABASE_URL: server.url } : {})
  })
  process.exitCode = tests || (await leakedSecrets(secretsFile)) || (checks ?? 1)
} finally {
  await rm(secretsFile, { force: true })
  await server?.stop()
}
