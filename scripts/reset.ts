/** `npm run reset`: back to the first start. Deletes the built-in database, its key and credentials; `--yes` does not ask. */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline/promises'
import { loadConfig } from '../src/config.ts'
import { removeEmbedded } from '../src/storage/embedded.ts'
import { TEST_DATA_DIR } from '../test/server.ts'

const { HERALD_DATA_DIR: dataDir } = loadConfig(process.env)
/** What is of no use without the database it belongs to. */
const FILES = ['credentials.json', 'secret.key']

async function confirmed() {
  if (process.argv.includes('--yes')) return true
  if (!process.stdin.isTTY) {
    console.error('Nobody is here to ask; run "npm run reset -- --yes" to delete without asking.')
    return false
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`Delete the database and credentials in ${dataDir}? All data is lost. [y/N] `)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}

if (await confirmed()) {
  try {
    await removeEmbedded(dataDir)
    for (const file of FILES) await rm(path.join(dataDir, file), { force: true })
    // Single test files leave a server running for the next.
    if (process.argv.includes('--test-server')) await removeEmbedded(path.join(TEST_DATA_DIR, 'server'))
    console.log(`${dataDir} is empty again; "npm start" begins anew.`)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
} else {
  process.exitCode = 1
}
