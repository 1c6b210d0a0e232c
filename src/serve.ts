/** Runs a Herald until a signal stops it. */
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pino, { type Logger } from 'pino'
import { type Config, ConfigError, loadConfig, unknownSettings } from './config.ts'
import { createDemo, credentialsFile, type DemoCredentials, demoExists, printWelcome } from './demo.ts'
import { createHerald, type Herald } from './herald.ts'
import { startEmbedded } from './storage/embedded.ts'

/** SIGTERM: what is in flight has this long to finish. */
const STOP_DEADLINE_MS = 14_000

/** Enough to find the cause; never the objects that libraries hang on errors (connections, requests, what they carried). */
const briefError = (error: Error & { code?: string }) => ({
  type: error.name,
  message: error.message,
  code: error.code,
  stack: error.stack
})

export function createLog(config: Config): Logger {
  return pino({
    level: config.HERALD_LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: briefError }
  })
}

/** The database of the configuration: the one it names, or the built-in one in the data directory. */
export async function openStorage(config: Config, log: Logger) {
  if (config.DATABASE_URL) return { url: config.DATABASE_URL, embedded: false, stop: async () => {} }
  const embedded = await startEmbedded({ dataDir: config.HERALD_DATA_DIR, log })
  return { url: embedded.url, embedded: true, stop: () => embedded.stop() }
}

export async function serve(env: NodeJS.ProcessEnv) {
  const started = performance.now()
  const config = configOrExit(env)
  const log = createLog(config)
  for (const name of unknownSettings(env)) log.warn(`${name} is not a setting of Herald; see docs/configuration.md`)
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'stopping after an unexpected error')
    process.exit(1)
  })

  const storage = await openStorage(config, log).catch((error) =>
    exitWith(log, 'the database could not be started', error)
  )
  const herald = await createHerald({ config, databaseUrl: storage.url, log }).catch(async (error) => {
    await storage.stop()
    return exitWith(log, 'Herald could not be started', error)
  })
  const demo = storage.embedded && !(await demoExists(herald.deps)) ? await createDemo(herald.deps) : undefined
  stopOnSignals(herald, storage.stop, log)
  await herald.start()
  const urls = await herald.listen().catch(async (error) => {
    await herald.stop()
    await storage.stop()
    return exitWith(
      log,
      `cannot listen on ${config.HERALD_HOST}:${config.HERALD_PORT} or :${config.HERALD_SANDBOX_PORT}; set HERALD_PORT and HERALD_SANDBOX_PORT`,
      error
    )
  })
  announce(config, log, urls, demo, Math.round(performance.now() - started))
  setTimeout(giveBackStartMemory, START_MEMORY_DELAY_MS).unref()
}

/** Soon enough to matter on a laptop, late enough not to delay the first requests. */
const START_MEMORY_DELAY_MS = 1_500

/** Starting leaves tens of megabytes of garbage that an idle process would keep for hours; one collection returns them. */
function giveBackStartMemory() {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => Promise<void>
  void collect({ type: 'major', execution: 'async', flavor: 'last-resort' })
}

function configOrExit(env: NodeJS.ProcessEnv): Config {
  try {
    return loadConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(78)
  }
}

function exitWith(log: Logger, what: string, error: unknown): never {
  log.fatal({ err: error }, what)
  process.exit(1)
}

function announce(
  config: Config,
  log: Logger,
  urls: { main: string; sandbox: string },
  demo: DemoCredentials | undefined,
  startMs: number
) {
  log.info({ ...urls, startMs }, 'ready')
  if (demo) console.log(printWelcome(demo, fromHere(credentialsFile({ config }))))
}

/** As one would type it: relative below the working directory, absolute elsewhere. */
function fromHere(file: string) {
  const relative = path.relative('.', file)
  return relative.startsWith('..') ? file : `./${relative}`
}

function stopOnSignals(herald: Herald, stopStorage: () => Promise<void>, log: Logger) {
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    const overdue = setTimeout(() => {
      log.error('stopped before everything was handed back; leases will expire')
      process.exit(1)
    }, STOP_DEADLINE_MS)
    await herald.stop()
    await stopStorage()
    clearTimeout(overdue)
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}
