/** Shapes that answers of /2 and /admin have in common. Apart from v2.ts, so that identity can use them while http uses identity. */
import { type TSchema, Type } from 'typebox'

export const Id = Type.String({ pattern: '^[0-9]{1,19}$' })
export const Timestamp = Type.String({ format: 'date-time', description: 'UTC with milliseconds.' })
export const Data = <T extends TSchema>(data: T) => ({ 200: Type.Object({ data }) })
export const Meta = Type.Object({
  result_count: Type.Integer(),
  next_token: Type.Optional(Type.String()),
  previous_token: Type.Optional(Type.String())
})
export const Page = <T extends TSchema>(item: T) => ({ 200: Type.Object({ data: Type.Array(item), meta: Meta }) })
export const Paging = (maxResults: number, defaultResults: number) => ({
  max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: maxResults, default: defaultResults })),
  pagination_token: Type.Optional(
    Type.String({ minLength: 16, description: '`next_token` or `previous_token` of an earlier answer.' })
  )
})
