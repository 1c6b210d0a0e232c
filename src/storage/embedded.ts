/** The database for those who bring none: PostgreSQL from npm, run as a child process. See docs/decisions/0001. */
import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Binaries, findBinaries } from './embedded/binaries.ts'
import {
  cannotRun,
  DATABASE_NAME,
  DATABASE_USER,
  ensureCluster,
  environment,
  readPassword,
  runAs
} from './embedded/cluster.ts'
import { existingFiles, findPlace, type Place } from './embedded/place.ts'
import { isAlive, isPostmasterOf, type Postmaster, readPostmaster } from './embedded/postmaster.ts'
import { type Log, silentLog } from './log.ts'

export interface EmbeddedOptions {
  dataDir: string
  log?: Log
  connectionsMax?: number
  /** False only for tests: faster, and a power failure may destroy the data. */
  durable?: boolean
  /** Leave the server running when we exit, for whoever comes next. */
  detached?: boolean
  /** Unix sockets, except where Node cannot use them. */
  transport?: 'socket' | 'tcp'
  /** Where root puts what another user must reach. */
  sharedDirectories?: string[]
}

export interface Embedded {
  url: string
  /** The process id of the server now running. */
  pid(): number
  /** Stops the server, if it is ours to stop. */
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 120_000
const POLL_MS = 10
const RESTART_DELAYS_MS = [0, 100, 200, 500, 1_000, 2_000, 5_000]
const ADOPTED_CHECK_MS = 500
/** After this long a fast shutdown becomes an immediate one, which costs a recovery at the next start and no data. */
const FAST_SHUTDOWN_MS = 8_000
const LOG_BYTES_MAX = 10_000_000

export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log = silentLog, durable = true, transport = process.platform === 'win32' ? 'tcp' : 'socket' } = options
  const place = await findPlace(path.resolve(options.dataDir), options.sharedDirectories)
  const binaries = await findBinaries(place.user, options.sharedDirectories)
  if (await ensureCluster(place, binaries, { transport, durable }))
    log.info({ cluster: place.cluster }, 'database created')

  const port = transport === 'tcp' ? await portFor(place) : 5432
  const settings = serverSettings(place, { transport, durable, port, connectionsMax: options.connectionsMax ?? 100 })
  const runner = new Runner(place, binaries, settings, log, options.detached ?? false)
  await runner.ensureRunning()

  const host = transport === 'tcp' ? '127.0.0.1' : encodeURIComponent(place.socketDirectory)
  const login = transport === 'tcp' ? `${DATABASE_USER}:${await readPassword(place)}` : DATABASE_USER
  return {
    url: `postgres://${login}@${host}:${port}/${DATABASE_NAME}`,
    pid: () => runner.pid,
    stop: () => runner.stop()
  }
}

/** Stops a server that was left behind and deletes its files. Refuses while a Herald uses it. */
export async function removeEmbedded(dataDir: string) {
  const files = await existingFiles(await realpath(dataDir).catch(() => path.resolve(dataDir)))
  const owner = await livingOwner(files.ownerFile)
  if (owner) throw new Error(`Herald is running on ${dataDir} (process ${owner}); stop it first`)
  const postmaster = await runningPostmaster(files.cluster)
  if (postmaster) await shutDown(postmaster.pid)
  for (const file of [files.home, files.socketDirectory, files.logFile, files.ownerFile, files.pointerFile]) {
    await rm(file, { recursive: true, force: true })
  }
}

interface SettingsOptions {
  transport: 'socket' | 'tcp'
  durable: boolean
  port: number
  connectionsMax: number
}

function serverSettings(place: Place, { transport, durable, port, connectionsMax }: SettingsOptions) {
  return {
    listen_addresses: transport === 'tcp' ? '127.0.0.1' : '',
    port,
    unix_socket_directories: transport === 'tcp' ? '' : place.socketDirectory,
    unix_socket_permissions: '0700',
    max_connections: connectionsMax,
    shared_buffers: '128MB',
    // No replicas and no archive: the least WAL that is safe.
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    cluster_name: 'herald',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum_naptime: '1min' })
  }
}

class Runner {
  pid = 0
  readonly #place: Place
  readonly #binaries: Binaries
  readonly #settings: Record<string, string | number>
  readonly #log: Log
  readonly #detached: boolean
  #stopping = false
  #ours = false
  #adoptedCheck: NodeJS.Timeout | undefined
  #restarting: Promise<void> | undefined

  constructor(
    place: Place,
    binaries: Binaries,
    settings: Record<string, string | number>,
    log: Log,
    detached: boolean
  ) {
    this.#place = place
    this.#binaries = binaries
    this.#settings = settings
    this.#log = log
    this.#detached = detached
  }

  /** Uses the server that runs on this cluster, or starts one. Of two Heralds that try, PostgreSQL's lock file picks one. */
  async ensureRunning() {
    const deadline = performance.now() + START_TIMEOUT_MS
    for (let attempt = 0; ; attempt++) {
      const running = await runningPostmaster(this.#place.cluster)
      try {
        if (running) return await this.#adopt(running, deadline)
        return await this.#launch(deadline)
      } catch (error) {
        const delay = RESTART_DELAYS_MS[attempt]
        if (delay === undefined || performance.now() > deadline || this.#stopping) throw error
        // Another Herald may have won the race, or backends of a killed server are still letting go of its memory.
        await sleep(delay)
      }
    }
  }

  async #adopt(running: Postmaster, deadline: number) {
    await waitUntilReady(this.#place, running.pid, () => isAlive(running.pid), deadline)
    this.pid = running.pid
    const owner = await livingOwner(this.#place.ownerFile)
    this.#ours = !this.#detached && (owner === undefined || owner === process.pid)
    if (this.#ours) await this.#signOwner()
    this.#log.info({ pid: this.pid, ours: this.#ours }, 'using the PostgreSQL that already runs on this data directory')
    if (this.#detached) return
    this.#adoptedCheck = setInterval(() => {
      if (isAlive(running.pid)) return
      clearInterval(this.#adoptedCheck)
      this.#restarting = this.#restart('PostgreSQL, started by another Herald, has stopped')
    }, ADOPTED_CHECK_MS)
    this.#adoptedCheck.unref()
  }

  async #launch(deadline: number) {
    // Whatever the file names is not our server (isPostmasterOf), and PostgreSQL might take it for one.
    await rm(path.join(this.#place.cluster, 'postmaster.pid'), { force: true })
    const logFile = await open(this.#place.logFile, 'a', 0o600)
    let logStart = (await logFile.stat()).size
    if (logStart > LOG_BYTES_MAX) {
      await logFile.truncate()
      logStart = 0
    }
    const args = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    let child: ChildProcess
    try {
      child = spawn(this.#binaries.postgres, ['-D', this.#place.cluster, ...args], {
        cwd: this.#place.home,
        env: environment(),
        // A session of its own: Ctrl-C in the terminal is for us, and we stop the database when we are done with it.
        detached: true,
        stdio: ['ignore', logFile.fd, logFile.fd],
        ...runAs(this.#place.user)
      })
    } finally {
      await logFile.close()
    }
    let failure: Error | undefined
    child.on('error', (error) => (failure = cannotRun(this.#binaries.postgres, error)))
    child.on('exit', (code, signal) => (failure ??= new Error(`PostgreSQL has exited (${signal ?? code})`)))
    child.unref()
    try {
      await waitUntilReady(this.#place, child.pid ?? 0, () => failure === undefined, deadline)
    } catch (error) {
      const output = await readFile(this.#place.logFile).catch(() => Buffer.alloc(0))
      const said = output.subarray(logStart).toString().trim().slice(-2_000)
      throw new Error(`${(failure ?? (error as Error)).message}\n${said}`, { cause: error })
    }
    this.pid = child.pid!
    this.#ours = !this.#detached
    if (this.#detached) return
    await this.#signOwner()
    const exited = () => {
      this.#restarting = this.#restart('PostgreSQL has stopped unexpectedly')
    }
    if (failure) exited()
    else child.on('exit', exited)
  }

  #signOwner() {
    return writeFile(this.#place.ownerFile, `${process.pid}\n`, { mode: 0o600 })
  }

  async #restart(reason: string) {
    if (this.#stopping) return
    this.#log.error({ log: this.#place.logFile }, `${reason}; starting it again`)
    for (let attempt = 0; !this.#stopping; attempt++) {
      try {
        await this.ensureRunning()
        this.#log.info({ pid: this.pid }, 'PostgreSQL runs again')
        return
      } catch (error) {
        this.#log.error({ err: error }, 'PostgreSQL does not start; trying again')
        await sleep(RESTART_DELAYS_MS[attempt] ?? RESTART_DELAYS_MS.at(-1))
      }
    }
  }

  async stop() {
    if (this.#stopping) return
    this.#stopping = true
    clearInterval(this.#adoptedCheck)
    await this.#restarting
    if (!this.#ours) return
    await shutDown(this.pid)
    await rm(this.#place.ownerFile, { force: true })
  }
}

async function runningPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const postmaster = await readPostmaster(cluster)
  return postmaster && (await isPostmasterOf(postmaster.pid, cluster)) ? postmaster : undefined
}

/** The Herald that has to stop the server, if it still runs. */
async function livingOwner(ownerFile: string): Promise<number | undefined> {
  const pid = Number(await readFile(ownerFile, 'utf8').catch(() => '0'))
  return pid > 0 && isAlive(pid) ? pid : undefined
}

async function waitUntilReady(place: Place, pid: number, alive: () => boolean, deadline: number) {
  while (true) {
    const postmaster = await readPostmaster(place.cluster)
    if (postmaster?.pid === pid && postmaster.ready) return
    if (!alive()) throw new Error('PostgreSQL did not start')
    if (performance.now() > deadline) throw new Error('PostgreSQL is not ready after two minutes')
    await sleep(POLL_MS)
  }
}

async function shutDown(pid: number) {
  const deadline = performance.now() + FAST_SHUTDOWN_MS
  let signal: NodeJS.Signals = 'SIGINT'
  for (signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    const until = signal === 'SIGINT' ? deadline : performance.now() + 2_000
    while (performance.now() < until) {
      if (!isAlive(pid)) return
      await sleep(POLL_MS)
    }
  }
}

/** The port of the server that runs, else any free one. */
async function portFor(place: Place) {
  const running = await runningPostmaster(place.cluster)
  if (running) return running.port
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
