/** Rejected rows of an import as a CSV file, read from the table some at a time. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../storage/db.ts'
import { PRODUCT_FIELDS } from './product-fields.ts'

export const CSV_TYPE = 'text/csv; charset=utf-8'
const ROWS_AT_ONCE = 500

interface Rejected {
  row: bigint
  line: bigint | null
  errors: { code: string; field: string | null; column: number | null; message: string }[]
  fields: (string | null)[] | null
  raw: string | null
}

/** RFC 4180. */
const quoted = (value: unknown) => {
  const text = value === null || value === undefined ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
const line = (cells: unknown[]) => `${cells.map(quoted).join(',')}\r\n`

const HEADER = ['row', 'line', 'column', 'code', 'what_to_do', ...PRODUCT_FIELDS, 'row_as_it_stands']

const csvLine = ({ row, line: fileLine, errors, fields, raw }: Rejected) =>
  line([
    row,
    fileLine,
    errors.flatMap(({ column }) => column ?? []).join(' '),
    errors.map(({ code }) => code).join(' '),
    errors.map(({ message }) => message).join(' '),
    ...PRODUCT_FIELDS.map((_, i) => fields?.[i]),
    raw
  ])

/** The file as a download of this answer. */
export function sendRejected(reply: FastifyReply, db: Db, run: { catalog_id: string; id: string }): Readable {
  reply.type(CSV_TYPE).header('content-disposition', `attachment; filename="rejected-${run.id}.csv"`)
  return rejectedCsv(db, run.catalog_id, run.id)
}

function rejectedCsv(db: Db, catalogId: string, runId: string): Readable {
  async function* text() {
    yield line(HEADER)
    for (let after = 0n; ; ) {
      const { rows } = await sql<Rejected>`
        select row, line, errors, fields, raw from feed_rejected_rows
        where catalog_id = ${catalogId} and run_id = ${runId} and row > ${after}
        order by row limit ${ROWS_AT_ONCE}`.execute(db)
      if (rows.length === 0) return
      yield rows.map(csvLine).join('')
      after = rows.at(-1)!.row
    }
  }
  return Readable.from(text(), { objectMode: false })
}
