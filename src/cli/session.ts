/** A command's access to the database: the running one, or a built-in one started for the command alone. */
import pino from 'pino'
import { loadConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import { closeDeps, createDeps } from '../herald.ts'
import { openStorage } from '../serve.ts'
import { migrate } from '../storage/migrate.ts'

export async function withDeps<T>(env: NodeJS.ProcessEnv, act: (deps: Deps) => Promise<T>): Promise<T> {
  const config = loadConfig(env)
  const log = pino({ level: config.HERALD_LOG_LEVEL === 'debug' ? 'debug' : 'silent' }, pino.destination(2))
  const storage = await openStorage(config, log)
  try {
    await migrate({ connectionString: storage.url }, { log })
    const deps = await createDeps({ config, databaseUrl: storage.url, log })
    try {
      return await act(deps)
    } finally {
      await closeDeps(deps)
    }
  } finally {
    await storage.stop()
  }
}
