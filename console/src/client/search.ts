/** Filters live in the address: read leniently, written only when they say something. */
export type RawSearch = Record<string, unknown>

const text = (value: unknown) =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

/** Named texts out of a search; what is absent or empty is left out. */
export function texts<const N extends string>(search: RawSearch, ...names: N[]): { [K in N]?: string } {
  return Object.fromEntries(
    names.map((name) => [name, text(search[name])]).filter(([, value]) => value !== undefined)
  ) as { [K in N]?: string }
}

export function choice<const N extends string, const V extends string>(
  search: RawSearch,
  name: N,
  values: readonly V[]
): { [K in N]?: V } {
  const found = values.find((value) => value === search[name])
  return (found === undefined ? {} : { [name]: found }) as { [K in N]?: V }
}

export const flag = <const N extends string>(search: RawSearch, name: N) =>
  (typeof search[name] === 'boolean' ? { [name]: search[name] } : {}) as { [K in N]?: boolean }
