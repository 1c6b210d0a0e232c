/** `npm run check`: types, lint and format, import directions, generated pages, the lock file. Prints what is wrong and how to mend it. */
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { printEvents } from '../src/activity/events-page.ts'
import { printConfiguration } from '../src/config.ts'
import { wrongArrows } from './import-directions.ts'
import { lockFileProblems } from './lock-file.ts'

const root = path.resolve(import.meta.dirname, '..')
const fix = process.argv.includes('--fix')
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name)

function run(what: string, command: string, args: string[]) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  return status === 0 ? [] : [`${what} failed`]
}

/** A committed page equals what the code prints. */
async function upToDate(file: string, text: string) {
  const committed = await readFile(path.join(root, file), 'utf8').catch(() => '')
  if (committed === text) return []
  if (!fix) return [`${file} is out of date; npm run check -- --fix writes it`]
  await writeFile(path.join(root, file), text)
  return []
}

const problems = [
  ...run('tsc', bin('tsc'), ['-p', '.']),
  ...run('tsc of the console', bin('tsc'), ['-p', 'console']),
  ...run('biome', bin('biome'), ['check', ...(fix ? ['--write'] : []), '--error-on-warnings', '.']),
  ...(await wrongArrows(path.join(root, 'src'))),
  ...(await upToDate('docs/configuration.md', printConfiguration())),
  ...(await upToDate('docs/events.md', printEvents())),
  ...(await lockFileProblems(path.join(root, 'package-lock.json'), fix))
]
for (const problem of problems) console.error(`✖ ${problem}`)
console.log(
  problems.length === 0 ? '✔ types, lint, import directions, generated pages, lock file' : `${problems.length} problems`
)
process.exitCode = problems.length === 0 ? 0 : 1
