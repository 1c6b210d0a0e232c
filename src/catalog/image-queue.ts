/** Which products have images to be looked at, and what is known to be wrong with images. */
import { type JSONColumnType, type RawBuilder, sql } from 'kysely'
import { isoTime } from '../clock.ts'
import { badRequest } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { enqueue } from '../storage/jobs.ts'

/** The job that looks; its key is the catalog. */
export const IMAGE_CHECKS = 'catalog.image_checks'

/** How long a verdict is good. */
export const VERDICT_HOURS = 24

declare module '../storage/db.ts' {
  interface Tables {
    image_queue: {
      catalog_id: string
      product_key: string
      due_at: Time
      tries: Defaulted<number>
      version: Defaulted<number>
    }
    image_verdicts: {
      catalog_id: string
      product_key: string
      field: 'image_link' | 'additional_image_link'
      position: number
      url: string
      code: string
      message: string
      checked_at: Time
    }
    image_cache: { url_hash: string; problem: JSONColumnType<object | null>; expires_at: Time }
  }
}

/** After products got other images: what was known of the old ones is void. `keys` is a query of their product keys. */
export async function queueImages(tx: Db, catalogId: string, keys: RawBuilder<unknown>, now: number) {
  await sql`delete from image_verdicts where catalog_id = ${catalogId} and product_key in (${keys})`.execute(tx)
  const { numAffectedRows = 0n } = await sql`
    insert into image_queue as q (catalog_id, product_key, due_at)
    select ${catalogId}, k.product_key, ${isoTime(now)}::timestamptz from (${keys}) k
    on conflict (catalog_id, product_key) do update set
      due_at = excluded.due_at, tries = 0, version = q.version + 1`.execute(tx)
  if (numAffectedRows > 0n) await enqueue(tx, IMAGE_CHECKS, { catalog_id: catalogId }, { key: catalogId })
}

export const keysOf = (keys: string[]) => sql`select unnest(${keys}::text[]) as product_key`

export interface ImageWarning {
  product_key: string
  message: string
  checked_at: string
}

/** What is known to be wrong with the images of these products. */
export async function imageWarnings(db: Db, catalogId: string, keys: string[]): Promise<ImageWarning[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<ImageWarning>`
    select product_key, message, checked_at from image_verdicts
    where catalog_id = ${catalogId} and product_key = any(${keys}::text[])
    order by product_key, field desc, position`.execute(db)
  return rows
}

/** Products that come again with an image that was wrong a day ago: perhaps it is right by now. */
export async function lookAgain(tx: Db, catalogId: string, warnings: ImageWarning[], now: number) {
  const old = isoTime(now - VERDICT_HOURS * 3_600_000)
  const keys = [...new Set(warnings.filter(({ checked_at }) => checked_at < old).map((each) => each.product_key))]
  if (keys.length === 0) return
  await sql`
    insert into image_queue (catalog_id, product_key, due_at)
    select ${catalogId}, k.product_key, ${isoTime(now)}::timestamptz from (${keysOf(keys)}) k
    on conflict do nothing`.execute(tx)
  await enqueue(tx, IMAGE_CHECKS, { catalog_id: catalogId }, { key: catalogId })
}

interface IssueRow extends ImageWarning {
  id: string
  field: string
  position: number
  url: string
  code: string
}

/** A page of all that is wrong with images, product by product. */
export async function listImageIssues(db: Db, catalogId: string, query: { count?: number; cursor?: string }) {
  const { count = 100, cursor = '0-a-0' } = query
  const after = /^([0-9]{1,19})-([a-z_]{1,30})-([0-9]{1,3})$/.exec(cursor)
  if (!after)
    throw badRequest('INVALID_PARAMETER', 'The cursor does not belong to this request', { parameter: 'cursor' })
  const { rows } = await sql<IssueRow>`
    select v.*, p.id from image_verdicts v
    join products p on p.catalog_id = v.catalog_id and p.product_key = v.product_key
    where v.catalog_id = ${catalogId}
      and (v.product_key, v.field, v.position) > (${after[1]}, ${after[2]}, ${Number(after[3])}::int)
    order by v.product_key, v.field, v.position limit ${count + 1}`.execute(db)
  const page = rows.slice(0, count)
  const last = page.at(-1)
  return {
    rows: page,
    next_cursor: rows.length > count ? `${last!.product_key}-${last!.field}-${last!.position}` : null
  }
}
