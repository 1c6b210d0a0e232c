/** What each open stream gets because of some events. */
import type { Db } from '../../storage/db.ts'
import { meetings } from '../deliver-subscriptions.ts'
import { activityText } from '../envelope.ts'
import type { Incoming } from '../events.ts'
import { matchedPost, matchPosts } from '../filtered-stream/matching.ts'
import type { RuleSet } from '../filtered-stream/rule-set.ts'
import type { StreamConnection, StreamLine } from './connection.ts'

interface Line extends StreamLine {
  connection: StreamConnection
}

type Connections = readonly StreamConnection[]

function byApp(connections: Connections, endpoint: string): Map<string, StreamConnection[]> {
  const grouped = new Map<string, StreamConnection[]>()
  for (const connection of connections) {
    if (connection.endpoint !== endpoint) continue
    const group = grouped.get(connection.appId)
    if (group) group.push(connection)
    else grouped.set(connection.appId, [connection])
  }
  return grouped
}

/** In the order of the events. Who may see what is decided anew by the subscriptions and rules of this moment. */
export async function linesFor(
  db: Db,
  ruleSet: RuleSet,
  incoming: readonly Incoming[],
  connections: Connections
): Promise<Map<StreamConnection, StreamLine[]>> {
  const lines = [
    ...(await activityLines(db, incoming, byApp(connections, 'activity_stream'))),
    ...(await filteredLines(ruleSet, incoming, byApp(connections, 'filtered_stream')))
  ]
  const order = new Map(incoming.map(({ event }, at) => [event.id, at]))
  const sorted = lines.sort((a, b) => order.get(a.eventId)! - order.get(b.eventId)!)
  return Map.groupBy(sorted, ({ connection }) => connection)
}

async function activityLines(
  db: Db,
  incoming: readonly Incoming[],
  streams: Map<string, StreamConnection[]>
): Promise<Line[]> {
  if (streams.size === 0 || incoming.length === 0) return []
  const found = await meetings(db, incoming, [...streams.keys()])
  const texts = new Map<string, ReturnType<typeof activityText>>()
  return found.flatMap(({ event, facet, subscription }) => {
    const key = `${event.id} ${facet.event_type}`
    const textFor = texts.get(key) ?? activityText(event, facet.event_type)
    texts.set(key, textFor)
    const text = textFor(subscription)
    return streams.get(subscription.app_id)!.map((connection) => ({ connection, eventId: event.id, text }))
  })
}

async function filteredLines(
  ruleSet: RuleSet,
  incoming: readonly Incoming[],
  streams: Map<string, StreamConnection[]>
): Promise<Line[]> {
  if (streams.size === 0) return []
  const matches = await matchPosts(ruleSet, incoming)
  return matches.flatMap((match) =>
    [...match.byApp].flatMap(([appId, rules]) => {
      const texts = new Map<string, string>()
      return (streams.get(appId) ?? []).map((connection): Line => {
        const { selection } = connection
        const text = texts.get(selection.key) ?? matchedPost(match, rules, selection)
        texts.set(selection.key, text)
        return { connection, eventId: match.event.id, text }
      })
    })
  )
}
