/** Rows that did not become products, kept for download within bounds. */
import type pg from 'pg'
import type { IssueReport, IssueSample } from './report.ts'
import type { RejectedRecord } from './stage.ts'
import { KIND } from './staging.ts'

/** Beyond these the report still counts, but keeps no more rows. */
export interface RejectedLimits {
  rowsMax: number
  bytesMax: number
}

/** Whose rows they are. */
export interface RunId {
  catalog_id: string
  id: string
}

const DUPLICATE = 'DUPLICATE_ID'
const SAMPLES = 10
const duplicateMessage = (id: string) =>
  `id "${id}" occurs several times in the file: all rows with it are ignored. Keep one of them.`

export class RejectedRows {
  /** Kept so far. */
  rows = 0
  #bytes = 0
  readonly #pool: pg.Pool
  readonly #run: RunId
  readonly #limits: RejectedLimits

  constructor(pool: pg.Pool, run: RunId, limits: RejectedLimits, rows = 0) {
    this.#pool = pool
    this.#run = run
    this.#limits = limits
    this.rows = rows
  }

  async keep(records: RejectedRecord[]) {
    const kept: string[] = []
    for (const record of records) {
      if (this.rows >= this.#limits.rowsMax || this.#bytes >= this.#limits.bytesMax) break
      const json = JSON.stringify(record)
      this.rows++
      this.#bytes += json.length
      kept.push(json)
    }
    if (kept.length === 0) return
    await this.#pool.query(
      `insert into feed_rejected_rows (catalog_id, run_id, row, line, errors, fields, raw)
       select $1, $2, r.row, r.line, r.errors, r.fields, r.raw
       from json_populate_recordset(null::feed_rejected_rows, $3) r on conflict do nothing`,
      [this.#run.catalog_id, this.#run.id, `[${kept.join(',')}]`]
    )
  }

  /** Rows whose id occurs several times, from the staging table. */
  async keepDuplicates(table: string, count: number, report: IssueReport) {
    if (count === 0) return
    const source = `${table} s where s.kind = ${KIND.duplicate} order by s.row`
    const { rows: first } = await this.#pool.query<{ row: number; id: string }>(
      `select s.row::float8 as row, left(s.id, 100) as id from ${source} limit ${SAMPLES}`
    )
    const samples = first.map(({ row, id }): IssueSample => {
      return { row, line: null, column: null, value: id, message: duplicateMessage(id) }
    })
    report.addMany('error', { code: DUPLICATE, field: 'id' }, count, samples)
    const [before, after] = duplicateMessage('\n').split('\n')
    await this.#pool.query(
      `insert into feed_rejected_rows (catalog_id, run_id, row, errors, fields)
       select $1, $2, s.row, jsonb_build_array(jsonb_build_object('code', $4::text, 'field', 'id',
           'value', left(s.id, 100), 'column', null, 'message', $5::text || left(s.id, 100) || $6::text)),
         array[s.id, s.title, s.description, s.availability, s.condition, s.price, s.link, s.image_link]
       from ${source} limit $3
       on conflict do nothing`,
      [this.#run.catalog_id, this.#run.id, Math.max(this.#limits.rowsMax - this.rows, 0), DUPLICATE, before, after]
    )
  }
}
