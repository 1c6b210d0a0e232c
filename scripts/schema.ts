/** Prints the schema that the migrations add up to; with --write, into src/storage/schema.sql. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { dumpSchema } from '../src/storage/schema.ts'
import { testDatabase } from '../test/database.ts'

const file = path.resolve(import.meta.dirname, '../src/storage/schema.sql')
const cleanups: (() => Promise<void>)[] = []
try {
  const { database } = await testDatabase({ after: (cleanup) => cleanups.push(cleanup) })
  const text = await dumpSchema(database.db)
  if (process.argv.includes('--write')) await writeFile(file, text)
  else process.stdout.write(text)
} finally {
  for (const cleanup of cleanups) await cleanup()
}
