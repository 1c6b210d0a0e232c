/** The consumer of the delivery benches, in a process of its own: answers 200, or slowly under /slow, and counts. */
import https from 'node:https'
import type { AddressInfo } from 'node:net'

export interface ReceiverCommand {
  serve?: { cert: string; key: string; slowMs: number }
  /** Forget what was counted so far. */
  reset?: true
  report?: true
}

export interface ReceiverReport {
  port?: number
  received?: number
  /** From the `accepted_at` of a body to its arrival here, in milliseconds. */
  latencies?: number[]
}

let received = 0
let latencies: number[] = []
let slowMs = 10_000

const tell = (report: ReceiverReport) => process.send!(report)
const ACCEPTED_AT = Buffer.from('"accepted_at":')

function measure(body: Buffer, arrivedAt: number) {
  const at = body.indexOf(ACCEPTED_AT)
  if (at < 0) return
  const from = at + ACCEPTED_AT.length
  latencies.push(arrivedAt - Number.parseFloat(body.toString('latin1', from, from + 20)))
}

process.on('message', ({ serve, reset, report }: ReceiverCommand) => {
  if (serve) {
    slowMs = serve.slowMs
    const server = https.createServer({ cert: serve.cert, key: serve.key, keepAliveTimeout: 60_000 }, (req, res) => {
      const arrivedAt = performance.timeOrigin + performance.now()
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        if (req.url!.startsWith('/slow')) {
          setTimeout(() => res.writeHead(200).end(), slowMs)
          return
        }
        received++
        measure(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), arrivedAt)
        res.writeHead(200).end()
      })
    })
    server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }))
  }
  if (reset) {
    received = 0
    latencies = []
  }
  if (report) tell({ received, latencies })
})
process.on('disconnect', () => process.exit())
