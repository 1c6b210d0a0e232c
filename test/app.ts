/** startApp(t): a whole Herald on its own database, reached by inject; `listen` for tests that need real sockets. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadConfig } from '../src/config.ts'
import { createHerald, type Herald } from '../src/herald.ts'
import { createLog } from '../src/serve.ts'
import { checkAnswer } from './answers.ts'
import { type Cleanup, testDatabase } from './database.ts'
import { noteSecrets } from './secrets.ts'

export interface TestApp extends Herald {
  databaseUrl: string
  adminToken: string
  /** What its end must undo first; see `beside`. */
  cleanups: (() => Promise<unknown>)[]
}

export interface StartOptions {
  /** Another node on the database of this one. */
  beside?: TestApp
}

export const TEST_ADMIN_TOKEN = 'test-admin-token-0123456789abcdef'

/** `env` overrides settings; the test clock is on, rate limits count without refusing, private targets are allowed. */
export async function startApp(
  t: Cleanup,
  env: Record<string, string> = {},
  { beside }: StartOptions = {}
): Promise<TestApp> {
  // Undone in reverse: the server before its database.
  const cleanups: (() => Promise<unknown>)[] = beside?.cleanups ?? []
  if (!beside) {
    t.after(async () => {
      for (const cleanup of cleanups.reverse()) await cleanup()
    })
  }
  const url = beside?.databaseUrl ?? (await testDatabase({ after: (cleanup) => cleanups.push(cleanup) })).url
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-test-'))
  const config = loadConfig({
    HERALD_DATA_DIR: dataDir,
    HERALD_ADMIN_TOKEN: TEST_ADMIN_TOKEN,
    HERALD_SECRET_KEY: '00'.repeat(32),
    HERALD_TEST_CLOCK: '1',
    HERALD_RATE_LIMITS: 'off',
    HERALD_EGRESS_ALLOW_PRIVATE: '1',
    // Products of tests show images that are nowhere.
    HERALD_IMAGE_CHECKS: '0',
    HERALD_PORT: '0',
    HERALD_SANDBOX_PORT: '0',
    HERALD_DATABASE_CONNECTIONS_MAX: '8',
    HERALD_LOG_LEVEL: 'warn',
    ...env
  })
  noteSecrets(TEST_ADMIN_TOKEN)
  const log = createLog(config)
  const herald = await createHerald({ config, databaseUrl: url, log, checkAnswer })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= herald.stop()
    return stopped
  }
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }), stop)
  return { ...herald, stop, databaseUrl: url, adminToken: TEST_ADMIN_TOKEN, cleanups }
}
