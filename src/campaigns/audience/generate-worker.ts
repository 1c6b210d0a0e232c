/** Makes the default population away from the thread that answers requests. */
import { parentPort, workerData } from 'node:worker_threads'
import type { readReference } from '../reference/load.ts'
import { encodePopulation } from './codec.ts'
import { type GenerateOptions, generatePopulation } from './generate.ts'

const { rows, options } = workerData as { rows: Record<string, unknown[]>; options: GenerateOptions }
const read = ((kind: string) => rows[kind] ?? []) as unknown as typeof readReference
const bytes = encodePopulation(generatePopulation(read, options))
parentPort?.postMessage(bytes, [bytes.buffer])
