/** Looks at the images of products in the background, a bounded number at a time. */
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { isoTime } from '../clock.ts'
import type { Deps } from '../deps.ts'
import type { Db } from '../storage/db.ts'
import { defineJob, type JobDefinition } from '../storage/jobs.ts'
import { type ImageProblem, lookAtImage } from './image-fetch.ts'
import { IMAGE_CHECKS, VERDICT_HOURS } from './image-queue.ts'
import { issue } from './issues.ts'

const PRODUCTS_AT_ONCE = 50
/** Then another catalog has its turn. */
const TURN_MS = 20_000
/** An image that cannot be reached for a passing reason is looked for again, so many times, after so long. */
const TRIES_MAX = 3
const AGAIN_MS = 3_600_000

interface Queued {
  product_key: string
  tries: number
  version: number
  image_link: string | null
  additional_image_link: string | null
}

interface Image {
  product_key: string
  field: 'image_link' | 'additional_image_link'
  position: number
  url: string
}

const dueProducts = async (db: Db, catalogId: string, now: number) => {
  const { rows } = await sql<Queued>`
    select q.product_key, q.tries, q.version, p.image_link, p.additional_image_link
    from image_queue q left join products p on p.catalog_id = q.catalog_id and p.product_key = q.product_key
    where q.catalog_id = ${catalogId} and q.due_at <= ${isoTime(now)}
    order by q.due_at, q.product_key limit ${PRODUCTS_AT_ONCE}`.execute(db)
  return rows
}

async function nextDue(db: Db, catalogId: string): Promise<number | undefined> {
  const { rows } = await sql<{ due_at: string | null }>`
    select min(due_at) as due_at from image_queue where catalog_id = ${catalogId}`.execute(db)
  return rows[0]?.due_at ? Date.parse(rows[0].due_at) : undefined
}

const imagesOf = ({ product_key, image_link, additional_image_link }: Queued): Image[] => [
  ...(image_link === null ? [] : [{ product_key, field: 'image_link' as const, position: 0, url: image_link }]),
  ...(additional_image_link?.split(',') ?? []).map((url, position) => ({
    product_key,
    field: 'additional_image_link' as const,
    position,
    url
  }))
]

const hashOf = (url: string) => {
  const hex = hash('sha256', url, 'hex')
  return [8, 12, 16, 20, 32].map((end, i, ends) => hex.slice(ends[i - 1] ?? 0, end)).join('-')
}

async function cached(db: Db, urls: string[], now: number): Promise<Map<string, ImageProblem | null>> {
  const byHash = new Map(urls.map((url) => [hashOf(url), url]))
  const { rows } = await sql<{ url_hash: string; problem: ImageProblem | null }>`
    select url_hash, problem from image_cache
    where url_hash = any(${[...byHash.keys()]}::uuid[]) and expires_at > ${isoTime(now)}`.execute(db)
  return new Map(rows.map((row) => [byHash.get(row.url_hash)!, row.problem]))
}

/** Runs `act` on each, at most `width` at the same time. */
async function spread<T>(items: T[], width: number, act: (item: T) => Promise<void>) {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of rest) await act(item)
    })
  )
}

async function record(
  db: Db,
  catalogId: string,
  products: Queued[],
  problems: Map<string, ImageProblem | null>,
  looked: Set<string>,
  now: number
) {
  const verdicts = products.flatMap(imagesOf).flatMap(({ url, ...image }) => {
    const problem = problems.get(url)
    if (!problem) return []
    const { message } = issue(problem.code, image.field, url, (shown) => `${image.field} ${shown} ${problem.rule}`)
    return [{ catalog_id: catalogId, ...image, url, code: problem.code, message, checked_at: isoTime(now) }]
  })
  const isPassing = (product: Queued) => imagesOf(product).some(({ url }) => problems.get(url)?.transient)
  const again = products.filter((product) => product.tries + 1 < TRIES_MAX && isPassing(product))
  const keys = products.map(({ product_key }) => product_key)
  const versions = products.map(({ version }) => version)
  const current = sql`select * from unnest(${keys}::text[], ${versions}::int[]) as c (product_key, version)`
  const entries = [...looked].map((url) => {
    const problem = problems.get(url) ?? null
    const ms = problem?.transient ? AGAIN_MS : VERDICT_HOURS * 3_600_000
    return { url_hash: hashOf(url), problem, expires_at: isoTime(now + ms) }
  })

  await db.transaction().execute(async (tx) => {
    // Products that got other images meanwhile are not judged by the old ones.
    const { rows } = await sql<{ product_key: string }>`
      select q.product_key from image_queue q join (${current}) c using (product_key, version)
      where q.catalog_id = ${catalogId} for update of q`.execute(tx)
    const same = new Set(rows.map((row) => row.product_key))
    await sql`
      delete from image_verdicts where catalog_id = ${catalogId} and product_key = any(${[...same]}::text[])`.execute(
      tx
    )
    await sql`
      insert into image_verdicts select * from json_populate_recordset(null::image_verdicts, ${JSON.stringify(
        verdicts.filter(({ product_key }) => same.has(product_key))
      )})`.execute(tx)
    const later = again.map(({ product_key }) => product_key).filter((key) => same.has(key))
    await sql`
      update image_queue set tries = tries + 1, due_at = ${isoTime(now + AGAIN_MS)}
      where catalog_id = ${catalogId} and product_key = any(${later}::text[])`.execute(tx)
    await sql`
      delete from image_queue where catalog_id = ${catalogId} and product_key = any(${[...same]}::text[])
        and product_key <> all(${later}::text[])`.execute(tx)
    await sql`
      insert into image_cache select * from json_populate_recordset(null::image_cache, ${JSON.stringify(entries)})
      on conflict (url_hash) do update set problem = excluded.problem, expires_at = excluded.expires_at`.execute(tx)
  })
}

export const imageChecksJob = ({ egress }: Pick<Deps, 'egress'>, inFlightMax: number): JobDefinition =>
  defineJob(IMAGE_CHECKS, {
    schema: Type.Object({ catalog_id: Type.String() }),
    concurrency: 2,
    async run({ catalog_id }, { database, clock, signal }) {
      const { db } = database
      const turnEnds = performance.now() + TURN_MS
      while (performance.now() < turnEnds) {
        signal.throwIfAborted()
        const products = await dueProducts(db, catalog_id, clock.now())
        if (products.length === 0) {
          const due = await nextDue(db, catalog_id)
          return due === undefined ? undefined : { againAt: due }
        }
        const urls = [...new Set(products.flatMap(imagesOf).map(({ url }) => url))]
        const problems = await cached(db, urls, clock.now())
        const looked = new Set(urls.filter((url) => !problems.has(url)))
        await spread([...looked], inFlightMax, async (url) => {
          problems.set(url, await lookAtImage(egress, url, signal))
        })
        signal.throwIfAborted()
        await record(db, catalog_id, products, problems, looked, clock.now())
      }
      return { againAt: clock.now() }
    }
  })
