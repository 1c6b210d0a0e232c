/** Product set filters as a condition on rows of products with the alias `p`. Means what `matchesFilters` says. */
import { type RawBuilder, sql } from 'kysely'
import type { CompiledFilter } from './filters.ts'

const COMPARISONS = { GREATER_THAN: sql.raw('>'), LESS_THAN: sql.raw('<'), EQUAL_TO: sql.raw('=') }

/** Lower case without a language, as JavaScript has it; then compared byte by byte. */
const folded = (column: RawBuilder<unknown>) => sql`lower(${column} collate "und-x-icu") collate "C"`

function condition(filter: CompiledFilter): RawBuilder<unknown> {
  if (filter.kind === 'money') {
    const amount = sql.ref(`p.${filter.attribute}_amount`)
    return sql`p.price_currency = ${filter.currency} and ${amount} ${COMPARISONS[filter.operator]} ${filter.amount}::bigint`
  }
  const column = sql.ref(`p.${filter.attribute}`)
  if (filter.kind === 'integer') return sql`${column} ${COMPARISONS[filter.operator]} ${filter.value}::int`
  switch (filter.operator) {
    case 'EQUAL_TO':
      return sql`${column} collate "C" = ${filter.text}`
    case 'MATCH':
      return sql`${folded(column)} = ${filter.text}`
    case 'CONTAINS':
      return sql`strpos(${folded(column)}, ${filter.text}) > 0`
    case 'NOT_CONTAINS':
      return sql`(${column} is null or strpos(${folded(column)}, ${filter.text}) = 0)`
  }
}

/** Null counts as false wherever this stands in a `where`. */
export const filterSql = (filters: readonly CompiledFilter[]): RawBuilder<unknown> =>
  sql`(${sql.join(filters.map(condition), sql` and `)})`
