/** The PostgreSQL server that tests run on: the one named in the environment, else a built-in one in .test-data. */
import path from 'node:path'
import { startEmbedded } from '../src/storage/embedded.ts'

export const TEST_DATA_DIR = path.resolve(import.meta.dirname, '../.test-data')

/** What tests need of a server; nothing in them survives a power failure, nor has to. */
export const TEST_SERVER = { durable: false, connectionsMax: 300 } as const

let url: Promise<string> | undefined

/** A role that may create databases; `npm test` sets it, and a single `node --test file` finds or starts a server that stays. */
export function testServerUrl(): Promise<string> {
  url ??= (async () => {
    const given = process.env.HERALD_TEST_DATABASE_URL || process.env.DATABASE_URL
    if (given) return given
    const server = await startEmbedded({
      ...TEST_SERVER,
      dataDir: path.join(TEST_DATA_DIR, 'server'),
      detached: true
    })
    return server.url
  })()
  return url
}
