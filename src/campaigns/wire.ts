/** How rows of this domain look on the wire: schemas for the serializer, and times without fractions. */
import { Type } from 'typebox'

// The serializer has no type lists: null beside a type is `nullable`, and a bigint is an integer.
export const Text = Type.String()
export const Bool = Type.Boolean()
export const Int = Type.Integer()
export const Texts = Type.Array(Type.String())
export const TextOrNull = Type.Unsafe<string | null>({ type: 'string', nullable: true })
export const BoolOrNull = Type.Unsafe<boolean | null>({ type: 'boolean', nullable: true })
export const IntOrNull = Type.Unsafe<number | null>({ type: 'integer', nullable: true })
export const LongOrNull = Type.Unsafe<bigint | null>({ type: 'integer', format: 'int64', nullable: true })

/** What most entities carry. */
export const EntityFields = { id: Text, created_at: Text, updated_at: Text, deleted: Bool }

/** Every name of `properties` must be in the answer, whatever its value; those of `optional` may be. */
export const Entity = (properties: Record<string, object>, optional: Record<string, object> = {}) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties)
  })

/** `2026-01-15T12:00:00.000Z` → `2026-01-15T12:00:00Z`. */
export const seconds = (time: string | null) => (time === null ? null : `${time.slice(0, 19)}Z`)

/** A row as it is sent: its times cut. */
export function wire<Row extends object>(row: Row, times: readonly (keyof Row & string)[]): Row {
  const shaped = { ...row }
  for (const name of times) shaped[name] = seconds(row[name] as string | null) as Row[typeof name]
  return shaped
}

export const STAMPS = ['created_at', 'updated_at'] as const

/** Names as `q` compares them: case-insensitively, by prefix. */
export const folded = (name: string) => name.normalize('NFC').toLowerCase()
