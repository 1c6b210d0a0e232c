/** The history of a run under faults, and what must be true of it. */

/** A request as the receiver saw it. Times are milliseconds on one clock. */
export interface Post {
  webhook: string
  /** The number that the event carries. */
  number: number
  /** Its `webhook-id`. */
  delivery: string
  /** Which node sent it. */
  node: string
  replay: boolean
  startedAt: number
  /** When it was answered, or when the sender went away. */
  endedAt: number
  /** Undefined when the sender went away first. */
  status: number | undefined
}

export interface Fault {
  name: string
  startedAt: number
  endedAt: number
}

export interface Ack {
  webhook: string
  number: number
}

/** A node that was stopped past its lease, from the moment it ran again to the moment it held a new lease. */
export interface Zombie {
  node: string
  from: number
  to: number
}

export interface History {
  /** Events that were acknowledged to their publisher. */
  acks: Ack[]
  posts: Post[]
  faults: Fault[]
  zombies: Zombie[]
  /** Deliveries of which a node recorded that it did not wait for the answer any longer, or that the connection broke. */
  unanswered: ReadonlySet<string>
  inFlightMax: number
}

export interface Verdict {
  acknowledged: number
  posts: number
  lost: Ack[]
  /** Sent again, but not because of a refusal: acknowledged already, as far as the receiver knows. */
  duplicates: { explained: number; unexplained: Post[] }
  /** Sent again after an answer other than 200, or none. */
  retries: number
  inFlightMost: number
  inFlightExceeded: boolean
  zombiePosts: Post[]
  /** Nothing is wrong. */
  sound: boolean
}

/** What a fault does to acknowledgements that were on their way may show this much later. */
const FAULT_ECHO_MS = 250

const keyOf = ({ webhook, number }: Ack) => `${webhook}/${number}`

export function judge(history: History): Verdict {
  const { acks, posts, faults, zombies, unanswered, inFlightMax } = history
  const live = groupBy(
    posts.filter((post) => !post.replay),
    keyOf
  )
  const lost = acks.filter((ack) => !live.get(keyOf(ack))?.some(({ status }) => status === 200))
  const duplicates = { explained: 0, unexplained: [] as Post[] }
  let retries = 0
  for (const same of live.values()) {
    same.sort((a, b) => a.startedAt - b.startedAt)
    for (const [i, post] of same.slice(1).entries()) {
      if (same[i]!.status !== 200 || unanswered.has(post.delivery)) retries++
      else if (isExplained(same[i]!, post, faults)) duplicates.explained++
      else duplicates.unexplained.push(post)
    }
  }
  const inFlightMost = Math.max(0, ...[...groupBy(posts, ({ webhook }) => webhook).values()].map(mostAtOnce))
  const zombiePosts = posts.filter(({ node, startedAt }) =>
    zombies.some((zombie) => zombie.node === node && startedAt >= zombie.from && startedAt < zombie.to)
  )
  const inFlightExceeded = inFlightMost > inFlightMax
  return {
    acknowledged: acks.length,
    posts: posts.length,
    lost,
    duplicates,
    retries,
    inFlightMost,
    inFlightExceeded,
    zombiePosts,
    sound: lost.length === 0 && duplicates.unexplained.length === 0 && !inFlightExceeded && zombiePosts.length === 0
  }
}

/** A second request is right after one that was not acknowledged, or when a fault may have eaten the acknowledgement. */
function isExplained(before: Post, after: Post, faults: readonly Fault[]) {
  if (before.status !== 200) return true
  return faults.some(
    ({ startedAt, endedAt }) => startedAt <= after.startedAt && endedAt + FAULT_ECHO_MS >= before.startedAt
  )
}

function mostAtOnce(posts: readonly Post[]) {
  const changes = posts.flatMap(({ startedAt, endedAt }) => [
    { at: startedAt, by: 1 },
    { at: endedAt, by: -1 }
  ])
  // What ends in the moment in which another begins makes room for it.
  changes.sort((a, b) => a.at - b.at || a.by - b.by)
  let now = 0
  let most = 0
  for (const { by } of changes) {
    now += by
    most = Math.max(most, now)
  }
  return most
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

export interface ReplayVerdict {
  expected: number
  missing: number[]
  /** Numbers that were not in the range. */
  unexpected: number[]
  again: { explained: number; unexplained: number[] }
  sound: boolean
}

/** A replay sends exactly its set, once each, except around a fault. */
export function judgeReplay(
  expected: readonly number[],
  posts: readonly Post[],
  faults: readonly Fault[]
): ReplayVerdict {
  const wanted = new Set(expected)
  const sent = groupBy(
    posts.filter((post) => post.replay),
    ({ number }) => String(number)
  )
  const again = { explained: 0, unexplained: [] as number[] }
  for (const same of sent.values()) {
    same.sort((a, b) => a.startedAt - b.startedAt)
    for (const [i, post] of same.slice(1).entries()) {
      if (isExplained(same[i]!, post, faults)) again.explained++
      else again.unexplained.push(post.number)
    }
  }
  const missing = expected.filter((number) => !sent.has(String(number)))
  const unexpected = [...sent.keys()].map(Number).filter((number) => !wanted.has(number))
  const sound = missing.length === 0 && unexpected.length === 0 && again.unexplained.length === 0
  return { expected: wanted.size, missing, unexpected, again, sound }
}
