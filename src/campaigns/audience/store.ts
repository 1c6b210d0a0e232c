/**
 * Where the population is kept: a file in the data directory, read at the first estimate. The default one is generated on a
 * thread of its own the first time, so that nothing else waits; it is the same on every node. An imported one replaces it.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { readReference } from '../reference/load.ts'
import type { Criterion } from '../rules/criteria.ts'
import { decodePopulation, encodePopulation } from './codec.ts'
import { createEstimator, type Estimate, type Estimator } from './estimate.ts'
import { fingerprintOf, type GenerateOptions, POPULATION_KINDS } from './generate.ts'
import { importPopulation } from './import.ts'
import type { Population } from './population.ts'

const IMPORTED = 'population-imported.bin'

export interface AudienceOptions {
  /** `join(dataDir, 'audience')`; created when needed. */
  dir: string
  /** The reference rows in force. */
  read: typeof readReference
  generate?: GenerateOptions
  /** Told when the file cannot be kept; the population is then made again at the next start. */
  onWarning?: (error: unknown) => void
}

export interface Audience {
  estimate(criteria: readonly Criterion[]): Promise<Estimate>
  /** Replaces the population by the people of an NDJSON file. */
  importFile(path: string): Promise<Population>
  /** Forgets an imported population; the default one is back. */
  forgetImported(): Promise<void>
  /** Reads the population anew at the next estimate: after an import by another process, or new reference rows. */
  reload(): void
}

export function createAudience(options: AudienceOptions): Audience {
  let estimator: Promise<Estimator> | undefined
  const open = () => {
    if (estimator) return estimator
    const opening = openPopulation(options).then(createEstimator)
    // A failed attempt is not kept: the next estimate tries again.
    opening.catch(() => {
      if (estimator === opening) estimator = undefined
    })
    estimator = opening
    return opening
  }
  const imported = join(options.dir, IMPORTED)
  return {
    estimate: async (criteria) => (await open()).estimate(criteria),
    async importFile(path) {
      const population = await importPopulation(path)
      await keep(imported, encodePopulation(population))
      estimator = undefined
      return population
    },
    async forgetImported() {
      await rm(imported, { force: true })
      estimator = undefined
    },
    reload() {
      estimator = undefined
    }
  }
}

/** The imported population, else the default one, from its file or generated now. */
export async function openPopulation({ dir, read, generate = {}, onWarning }: AudienceOptions): Promise<Population> {
  const imported = await load(join(dir, IMPORTED))
  if (imported) return imported
  const fingerprint = fingerprintOf(read, generate)
  const path = join(dir, `population-${fingerprint}.bin`)
  const kept = await load(path).catch((error: unknown) => {
    onWarning?.(error)
    return undefined
  })
  if (kept?.fingerprint === fingerprint) return kept
  const bytes = await generateOnThread(read, generate)
  await keep(path, bytes)
    .then(() => removeOutdated(dir, path))
    .catch((error: unknown) => onWarning?.(error))
  return decodePopulation(bytes)
}

/** Populations of earlier seeds or reference rows. */
async function removeOutdated(dir: string, current: string) {
  for (const name of await readdir(dir)) {
    const path = join(dir, name)
    if (/^population-[0-9a-f]{16}\.bin$/.test(name) && path !== current) await rm(path, { force: true })
  }
}

async function load(path: string): Promise<Population | undefined> {
  try {
    return decodePopulation(await readFile(path))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Whole or not at all, also when two nodes share the directory. */
async function keep(path: string, bytes: Uint8Array) {
  await mkdir(dirname(path), { recursive: true })
  const unfinished = `${path}.${process.pid}.tmp`
  try {
    await writeFile(unfinished, bytes)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

function generateOnThread(read: typeof readReference, options: GenerateOptions): Promise<Uint8Array> {
  const rows = Object.fromEntries(POPULATION_KINDS.map((kind) => [kind, read(kind)]))
  const worker = new Worker(new URL('./generate-worker.ts', import.meta.url), { workerData: { rows, options } })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the population generator ended with ${code}`)))
  })
}
