/** A Herald node of the history checker: delivers, and publishes numbered events when told to. Speaks over IPC. */
import { systemClock } from '../../src/clock.ts'
import { createEgress } from '../../src/egress/index.ts'
import { openDatabase } from '../../src/storage/db.ts'
import { setNodeNumber } from '../../src/storage/ids.ts'
import { createListener } from '../../src/storage/listen.ts'
import { createDelivery } from '../../src/webhooks/deliver.ts'
import { DELIVERY_DEFAULTS, type DeliveryConfig } from '../../src/webhooks/deliver-config.ts'
import type { LaneKey } from '../../src/webhooks/log.ts'

export interface NodeSetup {
  name: string
  number: number
  url: string
  port: number
  host: string
  ca: string
  config: Partial<DeliveryConfig>
  lanes: LaneKey[]
}

export interface NodeCommand {
  setup?: NodeSetup
  /** Publish at this rate, with numbers from `from`; 0 stops. */
  publish?: { perSecond: number; from: number }
  wakeReplay?: LaneKey
  stop?: true
}

export interface NodeReport {
  ready?: true
  acked?: { webhook: string; number: number }[]
  /** When a lease was held again that had been lost, by the wall clock. */
  leaseHeldAt?: number
  warned?: string
  stopped?: true
}

const BATCH_MS = 20
const tell = (report: NodeReport) => process.connected && process.send!(report)

async function run({ name, number, url, port, host, ca, config, lanes }: NodeSetup) {
  setNodeNumber(number)
  const database = openDatabase({ url, connectionsMax: 8 })
  const listener = createListener(database)
  const warn = (about: unknown, message?: string) => {
    const text = typeof about === 'string' ? about : `${message}: ${(about as { err?: Error }).err?.message}`
    tell({ warned: text })
  }
  const info = (about: unknown) => {
    if (String(about).includes('holds a lease again')) tell({ leaseHeldAt: Date.now() })
  }
  const engine = createDelivery({
    database,
    egress: createEgress({
      allowPrivate: true,
      resolve: new Map([[host, { address: '127.0.0.1', port }]]),
      extraCa: ca,
      connectionsPerTargetMax: 1_000
    }),
    clock: systemClock,
    // The receiver tells the nodes apart by the name of this header.
    config: { ...DELIVERY_DEFAULTS, ...config, signatureHeader: `x-node-${name}` },
    secrets: async () => ['secret'],
    listener,
    log: { debug() {}, info, warn, error: warn }
  })
  await engine.start()
  tell({ ready: true })

  let perSecond = 0
  let next = 0
  let owed = 0
  let last = performance.now()
  setInterval(async () => {
    const nowMs = performance.now()
    // A node that was stopped does not catch up with what it would have published.
    owed = Math.min(perSecond, owed + ((nowMs - last) / 1_000) * perSecond)
    last = nowMs
    const count = Math.floor(owed)
    owed -= count
    if (count === 0) return
    const numbers = Array.from({ length: count }, () => next++)
    const lane = (n: number) => lanes[n % lanes.length]!
    try {
      const appended = await database.db.transaction().execute((tx) =>
        engine.append(
          tx,
          numbers.map((n) => ({ ...lane(n), body: `{"data":{"number":${n}}}` }))
        )
      )
      tell({ acked: numbers.map((n) => ({ webhook: lane(n).webhook_id, number: n })) })
      engine.dispatch(appended)
    } catch (error) {
      // Not acknowledged: it may have been committed or not, and nobody was promised anything.
      tell({ warned: `not published: ${(error as Error).message}` })
    }
  }, BATCH_MS)

  process.on('message', async ({ publish, wakeReplay, stop }: NodeCommand) => {
    if (publish) ({ perSecond, from: next } = publish)
    if (wakeReplay) engine.wakeReplay(wakeReplay)
    if (!stop) return
    await engine.stop()
    tell({ stopped: true })
    process.exit()
  })
}

process.once('message', ({ setup }: NodeCommand) => void run(setup!))
process.on('disconnect', () => process.exit())
