/** Two nodes, a PostgreSQL of their own and a receiver, with hands on everything that can go wrong. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../../src/storage/db.ts'
import { removeEmbedded, startEmbedded } from '../../src/storage/embedded.ts'
import { migrate } from '../../src/storage/migrate.ts'
import type { DeliveryConfig } from '../../src/webhooks/deliver-config.ts'
import type { LaneKey } from '../../src/webhooks/log.ts'
import { givenApp, givenWebhook } from '../deliveries.ts'
import type { Ack, Fault, Zombie } from './history.ts'
import type { NodeCommand, NodeReport, NodeSetup } from './node.ts'
import { now, type Receiver, startReceiver } from './receiver.ts'

export interface ClusterOptions {
  webhooks: number
  config: Partial<DeliveryConfig> & Pick<DeliveryConfig, 'leaseMs' | 'deadlineMs' | 'inFlightMax'>
  answerMs: number
  say(what: string): void
}

/** Each node counts from its own start, and a restarted one far beyond what its predecessor can have reached. */
const NUMBERS_PER_NODE = 10_000_000

export class Cluster {
  readonly acks: Ack[] = []
  readonly faults: Fault[] = []
  readonly zombies: Zombie[] = []
  readonly warnings = new Map<string, number>()
  readonly lanes: LaneKey[] = []
  readonly nodes: Node[] = []
  database!: Database
  receiver!: Receiver
  readonly options: ClusterOptions
  #server!: Awaited<ReturnType<typeof startEmbedded>>
  #dataDir = ''
  #started = 0
  #stopped: Promise<void> | undefined

  constructor(options: ClusterOptions) {
    this.options = options
  }

  async start() {
    try {
      await this.#start()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async #start() {
    this.#dataDir = await mkdtemp(path.join(tmpdir(), 'herald-chaos-'))
    this.#server = await startEmbedded({ dataDir: this.#dataDir })
    await migrate({ connectionString: this.#server.url })
    this.database = openDatabase({ url: this.#server.url, connectionsMax: 3 })
    this.receiver = await startReceiver(this.options.answerMs)
    const app_id = await givenApp(this.database)
    for (let i = 0; i < this.options.webhooks; i++) this.lanes.push(await givenWebhook(this.database, { app_id }))
    this.nodes.push(await this.addNode('a'), await this.addNode('b'))
  }

  async addNode(name: string): Promise<Node> {
    const number = this.#started++
    const { host, port, ca } = this.receiver
    const { config } = this.options
    const setup: NodeSetup = { name, number, url: this.#server.url, port, host, ca, config, lanes: this.lanes }
    const node = new Node(name, (number + 1) * NUMBERS_PER_NODE, setup, this)
    await node.ready
    return node
  }

  publish(perSecond: number) {
    for (const node of this.nodes) node.publish(perSecond)
  }

  /** A fault lasts from before it begins until its effects are over. */
  async fault(name: string, act: () => Promise<void>) {
    this.options.say(name)
    const fault: Fault = { name, startedAt: now(), endedAt: Number.POSITIVE_INFINITY }
    this.faults.push(fault)
    await act()
    fault.endedAt = now()
  }

  killNode(index: number, perSecond: number) {
    const { name } = this.nodes[index]!
    return this.fault(`SIGKILL of node ${name}, and a new one`, async () => {
      await this.nodes[index]!.kill()
      // Lanes of the dead wait for the end of its lease.
      const [next] = await Promise.all([this.addNode(name), sleep(this.options.config.leaseMs)])
      this.nodes[index] = next
      next.publish(perSecond)
    })
  }

  pauseNode(index: number, forMs: number) {
    const node = this.nodes[index]!
    return this.fault(`SIGSTOP of node ${node.name} for ${forMs} ms`, async () => {
      node.signal('SIGSTOP')
      await sleep(forMs)
      const zombie = { node: node.name, from: now(), to: Number.POSITIVE_INFINITY }
      if (forMs > this.options.config.leaseMs) this.zombies.push(zombie)
      const held = node.holdsLeaseAgain()
      node.signal('SIGCONT')
      if (forMs <= this.options.config.leaseMs) return
      zombie.to = await held
    })
  }

  terminateBackends() {
    return this.fault('pg_terminate_backend of every connection', async () => {
      await this.database.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()'
      )
    })
  }

  restartDatabase() {
    return this.fault('immediate shutdown and restart of PostgreSQL', async () => {
      process.kill(this.#server.pid(), 'SIGQUIT')
      await sleep(100)
      await this.query('select 1')
    })
  }

  outage(mode: 'unavailable' | 'hang', forMs: number) {
    return this.fault(`receiver ${mode} for ${forMs} ms`, async () => {
      this.receiver.mode = mode
      await sleep(forMs)
      this.receiver.mode = 'ok'
    })
  }

  /** Also while the database is away for a moment. */
  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (let failures = 0; ; failures++) {
      try {
        return (await this.database.pool.query<Row>(text, values)).rows
      } catch (error) {
        if (failures > 100) throw error
        await sleep(100)
      }
    }
  }

  /** Deliveries of which some attempt ended without an answer, as far as its node knows. */
  async unanswered(): Promise<ReadonlySet<string>> {
    const rows = await this.query<{ id: string }>(
      "select distinct delivery_id as id from attempts where outcome in ('retry', 'failed') and error in ('timeout', 'reset')"
    )
    return new Set(rows.map(({ id }) => id))
  }

  async queueLength() {
    const [row] = await this.query<{ count: number }>('select count(*)::int as count from delivery_queue')
    return row!.count
  }

  #whatWaits() {
    return this.query(`
      select queue.webhook_id, retry, lane.node_id, lane.epoch::int, count(*)::int, max(attempts) as attempts_most,
        min(due_at) as due_first, max(due_at) as due_last, now() as now
      from delivery_queue as queue left join delivery_lanes as lane using (app_id, webhook_id)
      group by 1, 2, 3, 4`)
  }

  async untilQueueIsEmpty(timeoutMs: number) {
    const deadline = performance.now() + timeoutMs
    while ((await this.queueLength()) > 0) {
      if (performance.now() > deadline) throw new Error(`not settled: ${JSON.stringify(await this.#whatWaits())}`)
      await sleep(100)
    }
  }

  stop() {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop() {
    await Promise.all(this.nodes.map((node) => node.stop()))
    await this.receiver?.close()
    await this.database?.close()
    await this.#server?.stop()
    await removeEmbedded(this.#dataDir)
    await rm(this.#dataDir, { recursive: true, force: true })
  }
}

export class Node {
  readonly name: string
  readonly ready: Promise<void>
  readonly #child: ChildProcess
  readonly #numbersFrom: number
  #waitsForLease: ((at: number) => void) | undefined

  constructor(name: string, numbersFrom: number, setup: NodeSetup, { acks, warnings }: Cluster) {
    this.name = name
    this.#numbersFrom = numbersFrom
    this.#child = fork(path.join(import.meta.dirname, 'node.ts'))
    const ready = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.#child.on('exit', () => ready.reject(new Error(`node ${name} has ended`)))
    this.ready.catch(() => {})
    this.#child.on('message', (report: NodeReport) => {
      if (report.ready) ready.resolve()
      if (report.acked) acks.push(...report.acked)
      if (report.warned) warnings.set(report.warned, (warnings.get(report.warned) ?? 0) + 1)
      if (report.leaseHeldAt !== undefined) this.#waitsForLease?.(report.leaseHeldAt + now() - Date.now())
    })
    this.#send({ setup })
  }

  #send(command: NodeCommand) {
    if (this.#child.connected) this.#child.send(command, () => {})
  }

  publish(perSecond: number) {
    this.#send({ publish: { perSecond, from: this.#numbersFrom + Math.floor(performance.now()) * 100 } })
  }

  wakeReplay(lane: LaneKey) {
    this.#send({ wakeReplay: lane })
  }

  signal(signal: NodeJS.Signals) {
    this.#child.kill(signal)
  }

  holdsLeaseAgain(): Promise<number> {
    return new Promise((resolve) => (this.#waitsForLease = resolve))
  }

  async kill() {
    const ended = once(this.#child, 'exit')
    this.signal('SIGKILL')
    await ended
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.signal('SIGCONT')
    this.#send({ stop: true })
    const timer = setTimeout(() => this.signal('SIGKILL'), 15_000)
    await ended
    clearTimeout(timer)
  }
}
