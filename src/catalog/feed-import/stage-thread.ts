/** Fetches and stages a file in a thread of its own. */
import { Worker } from 'node:worker_threads'
import type pg from 'pg'
import type { EgressSettings } from '../../egress/index.ts'
import type { FeedFormat } from './detect.ts'
import type { FeedSource } from './fetch.ts'
import type { RejectedLimits, RunId } from './rejected.ts'
import type { IssueCount, RunError } from './report.ts'
import type { Staged } from './stage.ts'

/** What the thread needs to know; everything in it can be sent to another thread. */
export interface StageTask {
  egress: EgressSettings
  connection: Pick<pg.ClientConfig, 'connectionString' | 'options'>
  /** Where the file is, or the file itself. */
  source: FeedSource | { bytes: Uint8Array }
  deadlineMs: number
  format: FeedFormat
  run: RunId
  limits: RejectedLimits
  table: string
}

export interface StagedFile extends Staged {
  kind: 'staged'
  issues: IssueCount[]
  rejectedKept: number
  /** As they came over the wire. */
  bytes: number
  etag: string | null
  lastModified: string | null
}

export type StageOutcome =
  | StagedFile
  | { kind: 'not modified' }
  | { kind: 'failed'; error: RunError; transient: boolean; issues: IssueCount[]; bytes: number }

export interface StageProgress {
  rows: number
  bytes: number
  bytesTotal: number | null
}

export type FromThread = { progress: StageProgress } | { outcome: StageOutcome } | { broken: string }

/** Far more than reading needs, and a bound for what a strange file may take. */
const LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 64 }

/** Throws what `progress` throws, or the signal's reason; the thread then ends at once, and its connections with it. */
export async function stageInThread(
  task: StageTask,
  { signal, progress }: { signal: AbortSignal; progress(now: StageProgress): void }
): Promise<StageOutcome> {
  signal.throwIfAborted()
  const worker = new Worker(new URL('./stage-worker.mjs', import.meta.url), {
    workerData: task,
    resourceLimits: LIMITS
  })
  const { promise, resolve, reject } = Promise.withResolvers<StageOutcome>()
  worker.on('message', (message: FromThread) => {
    if ('outcome' in message) resolve(message.outcome)
    else if ('broken' in message) reject(new Error(message.broken))
    else {
      try {
        progress(message.progress)
      } catch (error) {
        reject(error)
      }
    }
  })
  worker.on('error', reject)
  worker.on('exit', () => reject(new Error('the thread that stages a feed ended without a result')))
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}
