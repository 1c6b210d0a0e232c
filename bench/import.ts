/**
 * Bench `import`: products per second from a feed over HTTP to the merged catalog, against COPY of the same rows into a
 * bare staging table and one set-based merge. Then the same file again, and once more with other prices.
 * `--bytes=4g` for the size of the feed. PostgreSQL with fsync, the feed host and Herald share the machine.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { COPY_STAGED, createStaging } from '../src/catalog/feed-import/staging.ts'
import { findRun, type RunRow, startRun } from '../src/catalog/feed-runs.ts'
import { MERCHANT_COLUMNS, ON_KNOWN_ID, WRITTEN_COLUMNS } from '../src/catalog/product-rows.ts'
import { type Database, openDatabase } from '../src/storage/db.ts'
import { startEmbedded } from '../src/storage/embedded.ts'
import { newId } from '../src/storage/ids.ts'
import { migrate } from '../src/storage/migrate.ts'
import { type PrepareCommand, rowsFor } from './support/feed-host.ts'

const BARS = { ratio_min: 0.5, unchanged_to_first_min: 1.25, megabytes_peak_max: 250 }
const UNITS: Record<string, number> = { k: 1e3, m: 1e6, g: 1e9 }
const ROUNDS = 3
const root = path.resolve(import.meta.dirname, '..')

function bytesWanted(): number {
  const given = /^--bytes=([0-9.]+)([kmg]?)$/.exec(process.argv.find((arg) => arg.startsWith('--bytes=')) ?? '')
  return given ? Number(given[1]) * (UNITS[given[2]!] ?? 1) : 100e6
}

async function ask<T>(child: ChildProcess, command?: object): Promise<T> {
  if (command) child.send(command)
  const [answer] = (await once(child, 'message')) as [T]
  return answer
}

/** The server as `npm start` runs it, warm; what it needs otherwise is no matter of this bench. */
async function startHerald(databaseUrl: string, dataDir: string): Promise<ChildProcess> {
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    HERALD_DATA_DIR: dataDir,
    HERALD_PORT: '0',
    HERALD_SANDBOX_PORT: '0',
    HERALD_ADMIN_TOKEN: 'bench',
    HERALD_EGRESS_ALLOW_PRIVATE: '1',
    HERALD_IMAGE_CHECKS: '0'
  }
  const child = spawn(path.join(root, 'node_modules/.bin/node'), ['src/main.ts'], { cwd: root, env })
  child.stderr.pipe(process.stderr)
  await once(child.stdout, 'data')
  return child
}

async function stop(child: ChildProcess) {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function givenCatalog({ pool }: Database): Promise<string> {
  const id = newId()
  await pool.query(
    `insert into users (id, username, name, created_at, updated_at) values ($1, 'u' || $1, 'bench', now(), now())`,
    [id]
  )
  await pool.query(
    `insert into product_catalogs (id, user_id, environment, name, created_at, updated_at)
     values ($1, $1, 'production', 'bench', now(), now())`,
    [id]
  )
  return id
}

interface Import {
  run: RunRow
  seconds: number
  stagedSeconds: number
}

async function runImport({ db, pool }: Database, catalogId: string, url: string): Promise<Import> {
  await pool.query('checkpoint')
  const began = performance.now()
  const input = { catalog_id: catalogId, feed_id: null, feed_url: url, feed_format: 'CSV', trigger: 'request' } as const
  const { id } = await db.transaction().execute((tx) => startRun(tx, { ...input, confirmed: true }, Date.now()))
  let stagedSeconds = 0
  for (;;) {
    const run = (await findRun(db, catalogId, id))!
    const seconds = (performance.now() - began) / 1000
    if (run.state === 'MERGING') stagedSeconds ||= seconds
    if (run.state === 'DONE') return { run, seconds, stagedSeconds }
    if (run.state === 'FAILED') throw new Error(`The import failed: ${JSON.stringify(run.error)}`)
    await sleep(20)
  }
}

/** The same rows, without reading, judging, groups or reports. */
async function reference(database: Database, file: string): Promise<number> {
  const { pool } = database
  const catalogId = await givenCatalog(database)
  await pool.query('create table products_bare (like products including all)')
  await pool.query('checkpoint')
  const began = performance.now()
  const client = await pool.connect()
  await client.query(createStaging('stage_bare'))
  const lines = createReadStream(file, { highWaterMark: 256 * 1024 })
  await pipeline(lines, client.query(copyFrom(COPY_STAGED('stage_bare'))))
  await client.query(
    `insert into products_bare as p (${WRITTEN_COLUMNS.join(', ')})
     select $1, (4000000000000000000 + row)::text, ${MERCHANT_COLUMNS.join(', ')}, content_hash, true, true, now(), now()
     from stage_bare ${ON_KNOWN_ID}`,
    [catalogId]
  )
  const seconds = (performance.now() - began) / 1000
  client.release()
  await pool.query('drop table stage_bare, products_bare')
  return seconds
}

const peakMegabytes = async (pid: number) =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)

export default async function bench() {
  const rows = rowsFor(bytesWanted())
  const [dataDir, files] = [
    await mkdtemp(path.join(tmpdir(), 'herald-bench-')),
    await mkdtemp(path.join(tmpdir(), 'herald-feeds-'))
  ]
  const server = await startEmbedded({ dataDir })
  await migrate({ connectionString: server.url })
  const database = openDatabase({ url: server.url })
  const host = fork(path.join(root, 'bench/support/feed-host.ts'), { stdio: 'inherit' })
  const { port } = await ask<{ port: number }>(host)
  await ask(host, { directory: files, rows } satisfies PrepareCommand)
  const feed = (round: number) => `http://127.0.0.1:${port}/feed-${round}.csv`
  await stop(await startHerald(server.url, dataDir))
  const herald = await startHerald(server.url, dataDir)
  try {
    await sleep(2_000)
    const idle = await peakMegabytes(herald.pid!)
    const rounds: { first: Import; referenceSeconds: number; catalogId: string }[] = []
    // Large feeds take their time and even out by themselves.
    for (let i = 0; i < (bytesWanted() > 500e6 ? 1 : ROUNDS); i++) {
      const referenceSeconds = await reference(database, path.join(files, 'copy.txt'))
      const catalogId = await givenCatalog(database)
      const first = await runImport(database, catalogId, feed(0))
      if (first.run.created !== rows) throw new Error(`${first.run.created} of ${rows} products were created`)
      rounds.push({ first, referenceSeconds, catalogId })
    }
    const ratioOf = ({ first, referenceSeconds }: (typeof rounds)[number]) => referenceSeconds / first.seconds
    const { first, referenceSeconds, catalogId } = rounds.toSorted((x, y) => ratioOf(x) - ratioOf(y))[
      rounds.length >> 1
    ]!
    const again = await runImport(database, catalogId, feed(0))
    if (again.run.unchanged !== rows) throw new Error(`${again.run.unchanged} of ${rows} products were unchanged`)
    const changed = await runImport(database, catalogId, feed(1))
    if (changed.run.updated !== rows) throw new Error(`${changed.run.updated} of ${rows} products were updated`)

    const rate = (seconds: number) => Math.round(rows / seconds)
    const ratio = referenceSeconds / first.seconds
    const peak = await peakMegabytes(herald.pid!)
    console.log(
      JSON.stringify({
        bench: 'import',
        rows,
        megabytes: Math.round(bytesWanted() / 1e6),
        products_per_second: rate(first.seconds),
        reference: rate(referenceSeconds),
        ratio: Math.round(ratio * 100) / 100,
        ratios: rounds.map((each) => Math.round(ratioOf(each) * 100) / 100),
        share_of_staging: Math.round((100 * first.stagedSeconds) / first.seconds) / 100,
        unchanged_products_per_second: rate(again.seconds),
        unchanged_to_first: Math.round((100 * first.seconds) / again.seconds) / 100,
        updated_products_per_second: rate(changed.seconds),
        megabytes_peak: peak,
        megabytes_before: idle,
        bars: BARS,
        pass:
          ratio >= BARS.ratio_min &&
          peak <= BARS.megabytes_peak_max &&
          first.seconds >= again.seconds * BARS.unchanged_to_first_min
      })
    )
  } finally {
    await stop(herald)
    host.disconnect()
    await database.close()
    await server.stop()
    for (const directory of [dataDir, files]) await rm(directory, { recursive: true, force: true })
  }
}

if (import.meta.main) await bench()
