/** The history checker: faults under load, and afterwards nothing lost. `npm run chaos` runs the long form. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isoTime, systemClock } from '../../src/clock.ts'
import type { DeliveryConfig } from '../../src/webhooks/deliver-config.ts'
import { createReplay } from '../../src/webhooks/replays.ts'
import { Cluster } from './cluster.ts'
import { judge, judgeReplay, type ReplayVerdict, type Verdict, type Zombie } from './history.ts'

export interface Plan {
  webhooks: number
  /** Events per second and node. */
  perSecond: number
  /** How often the round of faults is repeated. */
  rounds: number
  config: Partial<DeliveryConfig> & Pick<DeliveryConfig, 'leaseMs' | 'deadlineMs' | 'inFlightMax'>
  answerMs: number
  /** Between faults. */
  calmMs: number
  outageMs: number
}

const SCHEDULE_MS = [200, 500, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000]

export const SHORT: Plan = {
  webhooks: 6,
  perSecond: 100,
  rounds: 1,
  config: { leaseMs: 2_000, deadlineMs: 800, inFlightMax: 8, retryDelaysMs: SCHEDULE_MS, pollMs: 300 },
  answerMs: 5,
  calmMs: 300,
  outageMs: 1_200
}

export const LONG: Plan = {
  webhooks: 20,
  perSecond: 300,
  rounds: 12,
  config: { leaseMs: 6_000, deadlineMs: 2_000, inFlightMax: 16, retryDelaysMs: [...SCHEDULE_MS, ...SCHEDULE_MS] },
  answerMs: 8,
  calmMs: 2_000,
  outageMs: 5_000
}

export interface Report {
  seconds: number
  verdict: Verdict
  replay: ReplayVerdict
  replayState: string | undefined
  faults: string[]
  zombies: Zombie[]
  warnings: [string, number][]
}

export async function runChaos(plan: Plan, say: (what: string) => void): Promise<Report> {
  const begun = performance.now()
  const { config, perSecond, calmMs } = plan
  const cluster = new Cluster({ webhooks: plan.webhooks, config, answerMs: plan.answerMs, say })
  await cluster.start()
  try {
    const fromMs = Date.now()
    cluster.publish(perSecond)
    await sleep(calmMs)
    for (let round = 0; round < plan.rounds; round++) {
      const [victim, other] = [round % 2, (round + 1) % 2]
      await cluster.terminateBackends()
      await sleep(calmMs)
      await cluster.killNode(victim, perSecond)
      await sleep(calmMs)
      await cluster.pauseNode(other, config.leaseMs + 1_000)
      await sleep(calmMs)
      await cluster.outage(round % 2 === 0 ? 'unavailable' : 'hang', plan.outageMs)
      await sleep(calmMs)
      await cluster.restartDatabase()
      await sleep(calmMs)
      say(
        `round ${round + 1} of ${plan.rounds}: ${cluster.acks.length} acknowledged, ${cluster.receiver.posts.length} received`
      )
    }
    cluster.publish(0)
    await sleep(200)
    await cluster.untilQueueIsEmpty(120_000)
    const replay = await replayUnderFire(cluster, fromMs)
    await cluster.untilQueueIsEmpty(60_000)
    const unanswered = await cluster.unanswered()
    await cluster.stop()
    const { acks, faults, zombies, receiver, warnings } = cluster
    return {
      seconds: Math.round((performance.now() - begun) / 1_000),
      verdict: judge({ acks, posts: receiver.posts, faults, zombies, unanswered, inFlightMax: config.inFlightMax }),
      replay,
      replayState: receiver.replayStates.at(-1),
      faults: faults.map(({ name, startedAt, endedAt }) => `${name} (${Math.round(endedAt - startedAt)} ms)`),
      zombies,
      warnings: [...warnings].sort((a, b) => b[1] - a[1]).slice(0, 10)
    }
  } finally {
    await cluster.stop()
  }
}

/** Replays everything that one webhook was sent, and kills the node that does it. */
async function replayUnderFire(cluster: Cluster, fromMs: number) {
  const lane = cluster.lanes[0]!
  const { webhook_id } = lane
  const before = cluster.receiver.posts.length
  // Everything that was stored, also what its publisher was never told of.
  const rows = await cluster.query<{ body: Buffer }>('select body from deliveries where webhook_id = $1', [webhook_id])
  const expected = rows.map(({ body }) => JSON.parse(body.toString()).data.number as number)
  await createReplay(cluster.database.db, systemClock, { ...lane, fromMs, toMs: Date.now() + 1 })
  for (const node of cluster.nodes) node.wakeReplay(lane)
  const replayed = () => cluster.receiver.posts.slice(before).filter((post) => post.replay)
  while (replayed().length < Math.min(50, expected.length / 3)) await sleep(5)
  const owner = cluster.nodes.findIndex(({ name }) => name === replayed()[0]!.node)
  await cluster.killNode(owner, 0)
  const state = 'select state, finished_at from replays order by id desc limit 1'
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(100)) {
    const [job] = await cluster.query<{ finished_at: string | null }>(state)
    if (job?.finished_at) break
  }
  return judgeReplay(expected, replayed(), cluster.faults)
}

function print({ seconds, verdict, replay, replayState, faults, zombies, warnings }: Report) {
  console.log(`\nran for ${seconds} s, ended at ${isoTime(Date.now())}`)
  console.log(`faults: ${faults.length}`)
  for (const fault of faults) console.log(`  ${fault}`)
  console.log(`acknowledged to publishers: ${verdict.acknowledged}; requests received: ${verdict.posts}`)
  console.log(`lost: ${verdict.lost.length}`)
  console.log(`sent again after a refusal or no answer: ${verdict.retries}`)
  console.log(
    `duplicates: ${verdict.duplicates.explained} explained, ${verdict.duplicates.unexplained.length} unexplained`
  )
  console.log(`most in flight to one webhook: ${verdict.inFlightMost}${verdict.inFlightExceeded ? ' (too many)' : ''}`)
  console.log(`requests of nodes without a lease: ${verdict.zombiePosts.length}`)
  for (const { node, startedAt, status, delivery, replay } of verdict.zombiePosts.slice(0, 20)) {
    const zombie = zombies.find(({ from, to }) => startedAt >= from && startedAt < to)!
    const times = `${(startedAt - zombie.from).toFixed(1)} ms after it woke up, ${(zombie.to - startedAt).toFixed(1)} ms before its lease`
    console.log(`  ${times}: node ${node}, delivery ${delivery}, ${status}${replay ? ', replayed' : ''}`)
  }
  console.log(
    `replay: ${replay.expected} expected, ${replay.missing.length} missing, ${replay.unexpected.length} unexpected, ` +
      `${replay.again.explained} again around the kill, ${replay.again.unexplained.length} again without reason, ${replayState}`
  )
  console.log('most frequent warnings:')
  for (const [warning, count] of warnings) console.log(`  ${count} × ${warning}`)
  console.log(verdict.sound && replay.sound ? 'SOUND' : 'NOT SOUND')
}

if (import.meta.main) {
  const plan = process.argv.includes('--short') ? SHORT : LONG
  const rounds = Number(process.argv.find((argument) => /^--rounds=\d+$/.test(argument))?.slice(9) ?? plan.rounds)
  const report = await runChaos({ ...plan, rounds }, (what) => console.log(`${isoTime(Date.now())} ${what}`))
  print(report)
  process.exitCode = report.verdict.sound && report.replay.sound ? 0 : 1
}
