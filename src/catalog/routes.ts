/** What every route of this domain shares: early access, limits, decimal ids, and the catalog of the path. */
import type { AdsContext, AdsRoute, AdsScope, Environment } from '../http/ads.ts'
import { type Fields, type InputOf, Refused, text } from '../http/ads-input.ts'
import type { UserPrincipal } from '../http/auth.ts'
import type { Database } from '../storage/db.ts'
import { admitEarlyAccess } from './access.ts'
import { type CatalogResource, catalogLimit } from './rate-limits.ts'
import { catalogNotFound } from './transactions.ts'

export interface CatalogRow {
  id: string
  user_id: string
  environment: Environment
  name: string
}

export interface CatalogRoute<F extends Fields> extends Omit<AdsRoute<F>, 'handler' | 'limit'> {
  resource: CatalogResource
  handler(ctx: AdsContext<InputOf<F>> & { catalog: CatalogRow }): Promise<unknown>
}

export const CATALOG = '/product_catalogs/:product_catalog_id'

/** The catalog, if the caller may see it here. Someone else's looks exactly like none. */
async function getCatalog({ pool }: Database, id: string, principal: UserPrincipal, environment: Environment) {
  const { rows } = await pool.query<CatalogRow>({
    name: 'catalog.get',
    text: `select c.id, c.user_id, c.environment, c.name from product_catalogs c
           where c.id = $1 and c.environment = $2 and (c.user_id = $3
             or exists (select from catalog_delegates d where d.owner_user_id = c.user_id and d.user_id = $3))`,
    values: [id, environment, principal.user.id]
  })
  if (!rows[0]) throw catalogNotFound(id)
  return rows[0]
}

/** A cursor that is a key or an id; anything else is garbage. */
export const keyCursor = () => ({
  ...text({ max: 100 }),
  read(raw: unknown, name: string) {
    const cursor = String(raw)
    if (/^[0-9]{1,19}$/.test(cursor)) return cursor
    throw new Refused(
      `The cursor "${cursor.slice(0, 100)}" does not belong to this request; start again without ${name}`
    )
  }
})

/** Sets and feeds echo the id in the path as `id`. */
export const echoId = (name: string) => (params: Record<string, unknown>, path: Record<string, string>) => ({
  ...params,
  product_catalog_id: path.product_catalog_id,
  ...(path[name] === undefined ? {} : { id: path[name] })
})

/** Declares a route; below a catalog, the handler gets it. */
export function catalogRoute<F extends Fields = Record<never, never>>(scope: AdsScope, route: CatalogRoute<F>) {
  const { resource, handler, ...declared } = route
  const inside = declared.path.startsWith(CATALOG)
  scope.route({
    ...declared,
    decimalIds: true,
    tag: 'catalog',
    admit: admitEarlyAccess,
    // A question with a body is still a question.
    limit: catalogLimit(resource, declared.readOnly ? 'GET' : declared.method),
    handler: async (ctx) => {
      const { path, principal, environment } = ctx
      const catalog = inside
        ? await getCatalog(scope.deps.database, path.product_catalog_id!, principal, environment)
        : (undefined as unknown as CatalogRow)
      return handler({ ...ctx, catalog })
    }
  })
}
