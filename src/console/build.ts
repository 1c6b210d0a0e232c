/** Finds the built console, and has it built when its sources have changed. The server itself never loads the bundler. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'

const ROOT = path.resolve(import.meta.dirname, '../..')
const SOURCES = path.join(ROOT, 'console')
const BUILDER = path.join(ROOT, 'scripts/console.ts')
const OUTPUT_CHARACTERS_MAX = 4_000

/** What scripts/console.ts leaves beside the files it made. */
export const MANIFEST_FILE = 'files.json'
export const DIST = path.join(SOURCES, 'dist')

export interface BuiltFile {
  type: string
  /** Which compressed forms lie beside it. */
  encodings: ('br' | 'gzip')[]
}

export interface Build {
  hash: string
  directory: string
  /** By the path that browsers ask for. */
  files: ReadonlyMap<string, BuiltFile>
}

/** The same for the same sources and packages, on every machine. */
export async function sourcesHash(): Promise<string> {
  const hash = createHash('sha256')
  const names = await Array.fromAsync(
    glob('**/*.{ts,tsx,css,html,svg,json}', { cwd: SOURCES, exclude: ['dist/**', '**/*.test.ts'] })
  )
  const files = [...names.sort().map((name) => path.join('console', name)), 'package-lock.json', 'scripts/console.ts']
  for (const name of files)
    hash
      .update(`${name}\0`)
      .update(await readFile(path.join(ROOT, name)))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}

export async function readBuild(hash: string): Promise<Build | undefined> {
  const directory = path.join(DIST, hash)
  try {
    const files = JSON.parse(await readFile(path.join(directory, MANIFEST_FILE), 'utf8')) as Record<string, BuiltFile>
    return { hash, directory, files: new Map(Object.entries(files)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export type BuildState = { state: 'ready'; build: Build } | { state: 'building' } | { state: 'failed'; why: string }

export interface ConsoleBuild {
  /** What there is to serve; begins a build when there is nothing for the sources as they are now. */
  current(): Promise<BuildState>
  stop(): void
}

/** Sources are looked at again after this long, so that whoever works on the console only reloads the page. */
const LOOK_AGAIN_MS = 1_000

export function createConsoleBuild({ log, ticks }: { log: Logger; ticks: () => number }): ConsoleBuild {
  let latest: { hash: string; state: BuildState } | undefined
  let lookedAt = -Infinity
  let looking: Promise<BuildState> | undefined
  let child: ReturnType<typeof spawn> | undefined

  async function look(): Promise<BuildState> {
    const hash = await sourcesHash()
    if (latest?.hash !== hash) {
      const build = await readBuild(hash)
      latest = { hash, state: build ? { state: 'ready', build } : { state: 'building' } }
      if (!build) void run(hash)
    }
    lookedAt = ticks()
    return latest.state
  }

  async function run(hash: string) {
    child?.kill()
    const builder = spawn(process.execPath, [BUILDER], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    child = builder
    let output = ''
    for (const stream of [builder.stdout, builder.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-OUTPUT_CHARACTERS_MAX)
      })
    const code = await new Promise<number | null>((resolve) => {
      builder.on('error', () => resolve(null))
      builder.on('close', resolve)
    })
    if (child !== builder) return
    child = undefined
    const build = code === 0 ? await readBuild(hash) : undefined
    if (latest?.hash !== hash) return
    latest = { hash, state: build ? { state: 'ready', build } : { state: 'failed', why: output.trim() } }
    if (build) log.info('the console is built')
    else log.error({ output: output.trim() }, 'the console could not be built; npm run console shows why')
  }

  return {
    async current() {
      const settled = latest && latest.state.state !== 'building'
      if (settled && ticks() - lookedAt < LOOK_AGAIN_MS) return latest!.state
      looking ??= look().finally(() => {
        looking = undefined
      })
      return looking
    },
    stop() {
      child?.kill()
      child = undefined
    }
  }
}
