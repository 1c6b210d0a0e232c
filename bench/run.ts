/** `npm run bench -- <name> …`: runs benchmarks, each printing one JSON line with its figure and the reference of the same run. */
import { readdir } from 'node:fs/promises'

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -3))
  .sort()
// Options, such as --bytes=4g, are read by the bench that knows them.
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = asked.filter((name) => !names.includes(name))

if (asked.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`There is no bench called ${unknown.join(', ')}.`)
  console.error(`Usage: npm run bench -- <name> …   one or more of ${names.join(', ')}`)
  process.exitCode = unknown.length > 0 ? 2 : 0
} else {
  for (const name of asked) {
    const { default: bench } = (await import(`./${name}.ts`)) as { default: () => Promise<void> }
    await bench()
  }
}
