/** The lookups as the targeting rules ask them, indexed once per load of the reference rows. */
import { type readReference, referenceId } from '../reference/load.ts'
import type { ReferenceKind } from '../reference/types.ts'
import type { TargetingLookups } from './criteria.ts'
import { TARGETING_TYPES } from './targeting.ts'

/** `read` gives the rows in force: the shipped ones or the operator's. */
export function targetingLookups(read: typeof readReference): TargetingLookups {
  const kinds = new Set(
    Object.values(TARGETING_TYPES).flatMap(({ values }) => ('lookup' in values ? [values.lookup] : []))
  )
  const values = new Map([...kinds].map((kind) => [kind as string, idsOf(read, kind)]))
  const countries = new Map(read('locations').map((row) => [row.targeting_value, row.country_code]))
  const marketCountry = new Map(read('tv_markets').map((row) => [row.locale, row.country_code]))
  const markets = new Map(
    read('tv_shows').map((row) => [
      String(row.targeting_value),
      [...new Set(row.locales.flatMap((locale) => marketCountry.get(locale) ?? []))]
    ])
  )
  return {
    has: (kind, value) => values.get(kind)?.has(value) ?? false,
    countryOf: (location) => countries.get(location),
    marketsOf: (show) => markets.get(show) ?? []
  }
}

const idsOf = <K extends ReferenceKind>(read: typeof readReference, kind: K) =>
  new Set(read(kind).map((row) => referenceId(kind, row)))
