/** /admin/health: which nodes run, and how the database is. Each node says every few seconds that it is there. */
import { hostname } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Role } from '../config.ts'
import type { Deps } from '../deps.ts'
import { Data, Timestamp } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'

const BEAT_MS = 5_000
/** A node that missed two beats is away; one that was away for long is forgotten. */
const AWAY_SECONDS = 13
const FORGOTTEN_MINUTES = 60

export interface Heartbeat {
  start(roles: readonly Role[]): Promise<void>
  stop(): Promise<void>
}

export function createHeartbeat({ database: { db }, log }: Pick<Deps, 'database' | 'log'>): Heartbeat {
  const id = newId()
  let timer: NodeJS.Timeout | undefined

  const beat = async (roles: readonly Role[]) => {
    await sql`
      insert into nodes (id, host, pid, roles, version, memory_bytes, started_at, seen_at)
      values (${id}, ${hostname()}, ${process.pid}, ${[...roles]}, ${process.version}, ${process.memoryUsage.rss()},
        now() - make_interval(secs => ${Math.round(process.uptime())}), now())
      on conflict (id) do update set memory_bytes = excluded.memory_bytes, seen_at = excluded.seen_at`.execute(db)
  }
  return {
    async start(roles) {
      await beat(roles)
      timer = setInterval(() => {
        beat(roles).catch((error) => log.debug({ err: error }, 'no heartbeat'))
      }, BEAT_MS)
      timer.unref()
    },
    async stop() {
      if (!timer) return
      clearInterval(timer)
      await sql`delete from nodes where id = ${id}`.execute(db).catch(() => {})
    }
  }
}

const Node = Type.Object({
  id: Type.String(),
  host: Type.String(),
  pid: Type.Integer(),
  roles: Type.Array(Type.String()),
  version: Type.String({ description: 'Of Node.js.' }),
  memory_bytes: Type.Unsafe<bigint>({ type: 'integer' }),
  started_at: Timestamp,
  seen_at: Timestamp,
  alive: Type.Boolean()
})
const Health = Type.Object({
  nodes: Type.Array(Node),
  database: Type.Object({
    version: Type.String(),
    size_bytes: Type.Unsafe<bigint>({ type: 'integer' }),
    connections: Type.Integer(),
    connections_max: Type.Integer(),
    latency_ms: Type.Number({ description: 'Of one round trip, from the node that answered.' })
  })
})

async function health(db: Db) {
  const started = performance.now()
  await sql`select 1`.execute(db)
  const latency_ms = Math.round((performance.now() - started) * 100) / 100
  const nodes = await sql<{ alive: boolean; seen_at: string; id: string }>`
    select *, seen_at > now() - make_interval(secs => ${AWAY_SECONDS}) as alive from nodes
    where seen_at > now() - make_interval(mins => ${FORGOTTEN_MINUTES}) order by started_at, id`.execute(db)
  const database = await sql<{ version: string; size_bytes: bigint; connections: number; connections_max: number }>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      pg_database_size(current_database()) as size_bytes,
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as connections_max`.execute(db)
  return { nodes: nodes.rows, database: { ...database.rows[0]!, latency_ms } }
}

export function healthRoutes(app: FastifyInstance, db: Db) {
  app.get(
    '/health',
    { schema: { summary: 'The nodes and the database.', response: Data(Health) } },
    async () => ({ data: await health(db) }) as never
  )
}
