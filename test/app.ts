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
}

export const TEST_ADMIN_TOKEN = 'test-admin-token-0123456789abcdef'

/** `env` overrides settings; the test clock is on, rate limits count without refusing, private targets are allowed. */
export async function startApp(t: Cleanup, env: Record<string, string> = {}): Promise<TestApp> {
  // Undone in reverse: the server before its database.
  const cleanups: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })
  const { url } = await testDatabase({ after: (cleanup) => cleanups.push(cleanup) })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-test-'))
  const config = loadConfig({
    HERALD_DATA_DIR: dataDir,
    HERALD_ADMIN_TOKEN: TEST_ADMIN_TOKEN,
    HERALD_SECRET_KEY: '00'.repeat(32),
    HERALD_TEST_CLOCK: '1',
    HERALD_RATE_LIMITS: 'off',
    HERALD_EGRESS_ALLOW_PRIVATE: '1',
    HERALD_PORT: '0',
    HERALD_SANDBOX_PORT: '0',
    HERALD_DATABASE_CONNECTIONS_MAX: '8',
    HERALD_LOG_LEVEL: 'warn',
    ...env
  })
  noteSecrets(TEST_ADMIN_TOKEN)
  const log = createLog(config)
  const herald = await createHerald({ config, databaseUrl: url, log, checkAnswer })
  cleanups.push(
    () => rm(dataDir, { recursive: true, force: true }),
    () => herald.stop()
  )
  return { ...herald, databaseUrl: url, adminToken: TEST_ADMIN_TOKEN }
}
