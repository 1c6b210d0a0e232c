/** A load generator in a process of its own, so that what it costs is not counted as the server's. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Pool } from 'undici'

export interface Load {
  origin: string
  paths: string[]
  headers: Record<string, string>
  connections: number
  milliseconds: number
}

export interface LoadReport {
  requests: number
  perSecond: number
}

async function run({ origin, paths, headers, connections, milliseconds }: Load): Promise<LoadReport> {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const began = performance.now()
  let requests = 0
  const one = async (offset: number) => {
    for (let i = offset; performance.now() - began < milliseconds; i += connections) {
      const { statusCode, body } = await pool.request({ method: 'GET', path: paths[i % paths.length]!, headers })
      await body.dump({ limit: 10_000_000 })
      if (statusCode !== 200) throw new Error(`${paths[i % paths.length]} answered ${statusCode}`)
      requests++
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, i) => one(i)))
  const perSecond = Math.round((requests * 1000) / (performance.now() - began))
  await pool.close()
  return { requests, perSecond }
}

/** Asks for loads one after the other; `end` when done. */
export function startLoad() {
  const child: ChildProcess = fork(import.meta.filename, ['--child'])
  return {
    async run(load: Load): Promise<LoadReport> {
      child.send(load)
      const [report] = (await once(child, 'message')) as [LoadReport | { error: string }]
      if ('error' in report) throw new Error(report.error)
      return report
    },
    end: () => void child.kill()
  }
}

if (process.argv[2] === '--child') {
  process.on('message', (load) => {
    run(load as Load).then(
      (report) => process.send!(report),
      (error: Error) => process.send!({ error: error.message })
    )
  })
}
