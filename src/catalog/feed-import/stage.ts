/** From the bytes of a file to rows in a staging table, each judged. Holds a few thousand rows at a time. */
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams'
import type { Issue } from '../issues.ts'
import { clean } from '../product-checks.ts'
import { PRODUCT_FIELDS } from '../product-fields.ts'
import { cellText, contentHash, productText } from '../product-rows.ts'
import { validateFields } from '../product-rules.ts'
import type { FeedFormat } from './detect.ts'
import { readFeed } from './read.ts'
import { columnOf, type IssueReport } from './report.ts'
import { type FeedBatch, type FeedRow, RAW_ROW_CHARS_MAX } from './rows.ts'
import { COPY_STAGED, createStaging, KIND } from './staging.ts'

export interface RejectedRecord {
  row: number
  line: number | null
  errors: { code: string; field: string | null; value: string | null; message: string; column: number | null }[]
  fields: (string | null)[] | null
  raw: string | null
}

export interface StageOptions {
  /** Two connections at a time. */
  pool: pg.Pool
  table: string
  catalogId: string
  source: AsyncIterable<Buffer>
  format: FeedFormat
  report: IssueReport
  /** Receives rows that did not become products, some at a time. */
  keep(rejected: RejectedRecord[]): Promise<void>
  /** Told after every piece of the file. */
  progress(rows: number): void
}

export interface Staged {
  rows: number
  rejected: number
  /** Products that may be new or changed. */
  written: number
  /** The number of the last row. */
  lastRow: number
}

/** So much is looked up and copied together. */
const CHARS_AT_ONCE = 512 * 1024
/** What a rejected row weighs in this. */
const REJECTED_CHARS = 2_000
/** After so many rows it is known whether looking up pays: if hardly any product is as it was, it does not. */
const LOOK_UP_TRIAL_ROWS = 20_000
const LOOK_UP_HITS_MIN = 0.2

const NOTHING_ELSE = `${'\t\\N'.repeat(PRODUCT_FIELDS.length - 1)}\n`
const narrow = (row: number, kind: number, id: string) => `${row}\t${kind}\t\\N\t\\N\t\\N\t\\N\t${id}${NOTHING_ELSE}`

interface Waiting {
  row: number
  id: string
  hash: string
  line: string
}

export async function stageFeed(options: StageOptions): Promise<Staged> {
  const client = await options.pool.connect()
  try {
    await client.query(createStaging(options.table))
    const stager = new Stager(options, client, await hasProducts(client, options.catalogId))
    const staged = await stager.run()
    client.release()
    return staged
  } catch (error) {
    // In the middle of a COPY nothing else can be asked of a connection.
    client.release(true)
    throw error
  }
}

async function hasProducts(client: pg.ClientBase, catalogId: string) {
  const { rowCount } = await client.query('select from products where catalog_id = $1 limit 1', [catalogId])
  return rowCount === 1
}

class Stager {
  readonly #options: StageOptions
  readonly #copy: CopyStreamQuery
  #looksUp: boolean
  #lookedUp = 0
  #hits = 0
  #waiting: Waiting[] = []
  #waitingChars = 0
  #others = ''
  #rejected: RejectedRecord[] = []
  #before: Promise<void> = Promise.resolve()
  readonly #counts: Staged = { rows: 0, rejected: 0, written: 0, lastRow: 0 }

  constructor(options: StageOptions, client: pg.PoolClient, looksUp: boolean) {
    this.#options = options
    this.#looksUp = looksUp
    this.#copy = client.query(copyFrom(COPY_STAGED(options.table)))
    // Failures surface where the stream is written to or awaited.
    this.#copy.on('error', () => {})
  }

  async run(): Promise<Staged> {
    const { source, format, progress } = this.#options
    try {
      for await (const batch of readFeed(source, format)) {
        this.#take(batch)
        progress(this.#counts.rows)
        if (this.#waitingChars >= CHARS_AT_ONCE) await this.#flush()
      }
      await this.#flush()
      await this.#before
      this.#copy.end()
      await finished(this.#copy)
      return this.#counts
    } catch (error) {
      await this.#before.catch(() => {})
      this.#copy.destroy()
      throw error
    }
  }

  #take(batch: FeedBatch) {
    const { report } = this.#options
    for (const warning of batch.warnings) report.add('warning', warning, null, null, null)
    for (const { row, line, column, issue, raw } of batch.rejected) {
      this.#counts.rows++
      report.add('error', issue, row, line, column)
      this.#reject({ row, line, errors: [{ ...issue, column }], fields: null, raw })
    }
    for (const row of batch.rows) this.#judge(row, batch.columns)
  }

  #judge({ row, line: fileLine, fields }: FeedRow, columns: FeedBatch['columns']) {
    this.#counts.rows++
    this.#counts.lastRow = row
    const { product, errors, warnings } = validateFields(fields)
    if (warnings.length > 0) this.#note('warning', warnings, row, fileLine, columns)
    if (product === null) {
      this.#note('error', errors, row, fileLine, columns)
      const listed = errors.map((issue) => ({ ...issue, column: columnOf(columns, issue.field) }))
      this.#reject({ row, line: fileLine, errors: listed, fields: cutFields(fields), raw: null })
      const id = clean(fields[0])
      // It may be one of several rows with this id, all of which are ignored.
      if (id !== null) this.#stageNarrow(row, KIND.rejected, id)
      return
    }
    const text = productText(product)
    const hash = contentHash(text)
    const { price_amount, price_currency, sale_price_amount } = product
    const amounts = `${price_amount}\t${price_currency}\t${sale_price_amount ?? '\\N'}`
    const line = `${row}\t${KIND.write}\t${hash}\t${amounts}\t${text}\n`
    this.#waiting.push({ row, id: product.id, hash, line })
    this.#waitingChars += line.length
  }

  #note(severity: 'error' | 'warning', issues: Issue[], row: number, line: number, columns: FeedBatch['columns']) {
    for (const issue of issues) this.#options.report.add(severity, issue, row, line, columnOf(columns, issue.field))
  }

  #reject(record: RejectedRecord) {
    this.#counts.rejected++
    this.#rejected.push(record)
    this.#waitingChars += REJECTED_CHARS
  }

  #stageNarrow(row: number, kind: number, id: string) {
    this.#others += narrow(row, kind, cellText(id))
  }

  /** Hands on what waits, while the next rows are being read. */
  async #flush() {
    const before = this.#before
    const [waiting, others, rejected] = [this.#waiting, this.#others, this.#rejected]
    this.#waiting = []
    this.#waitingChars = 0
    this.#others = ''
    this.#rejected = []
    this.#before = before.then(() => this.#store(waiting, others, rejected))
    // Whoever awaits `#before` next sees its failure.
    this.#before.catch(() => {})
    await before
  }

  async #store(waiting: Waiting[], others: string, rejected: RejectedRecord[]) {
    if (rejected.length > 0) await this.#options.keep(rejected)
    const changed = this.#looksUp && waiting.length > 0 ? await this.#lookUp(waiting) : undefined
    let text = others
    for (const [i, { row, id, line }] of waiting.entries()) {
      text += changed === undefined || changed.has(i) ? line : narrow(row, KIND.unchanged, cellText(id))
    }
    this.#counts.written += changed?.size ?? waiting.length
    if (text !== '' && !this.#copy.write(Buffer.from(text))) await once(this.#copy, 'drain')
  }

  /** Which of the products are not in the catalog exactly as they are in the file. */
  async #lookUp(waiting: Waiting[]): Promise<Set<number>> {
    const { pool, catalogId } = this.#options
    const { rows } = await pool.query<{ others: number[] }>({
      name: 'catalog.feed_look_up',
      text: `select array(
               select (f.n - 1)::int from unnest($2::text[], $3::uuid[]) with ordinality as f (id, hash, n)
               left join products p on p.catalog_id = $1 and p.id = f.id and p.content_hash = f.hash
               where p.id is null) as others`,
      values: [catalogId, waiting.map(({ id }) => id), waiting.map(({ hash }) => hash)]
    })
    const others = new Set(rows[0]!.others)
    this.#lookedUp += waiting.length
    this.#hits += waiting.length - others.size
    if (this.#lookedUp >= LOOK_UP_TRIAL_ROWS && this.#hits < this.#lookedUp * LOOK_UP_HITS_MIN) this.#looksUp = false
    return others
  }
}

/** Cells for the report, cut together to what a raw row may have. */
function cutFields(fields: FeedRow['fields']): (string | null)[] {
  let left = RAW_ROW_CHARS_MAX
  return fields.map((field) => {
    if (!field) return null
    const kept = field.slice(0, left)
    left -= kept.length
    return kept
  })
}
