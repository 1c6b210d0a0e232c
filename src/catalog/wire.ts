/** Schemas that the answers of this domain are made of. */
import { Type } from 'typebox'

// The serializer has no type lists: null beside a type is `nullable`.
export const Text = Type.String()
export const Int = Type.Integer()
export const Bool = Type.Boolean()
export const Texts = Type.Array(Type.String())
export const TextOrNull = Type.Unsafe<string | null>({ type: 'string', nullable: true })
export const IntOrNull = Type.Unsafe<number | null>({ type: 'integer', nullable: true })

/** An object in which every name is present, whatever its value. */
export const Whole = (properties: Record<string, object>) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', properties, required: Object.keys(properties) })

export const WholeOrNull = (properties: Record<string, object>) =>
  Type.Unsafe<Record<string, unknown> | null>({
    type: 'object',
    nullable: true,
    properties,
    required: Object.keys(properties)
  })
