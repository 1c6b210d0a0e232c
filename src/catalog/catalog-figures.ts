/** Catalogs with how much is in them (extension): all that a user may act on, or one. */
import type { AdsScope, Environment } from '../http/ads.ts'
import type { Database } from '../storage/db.ts'
import { CATALOG, catalogRoute } from './routes.ts'
import { catalogNotFound } from './transactions.ts'
import { Bool, Int, Text, TextOrNull, Whole } from './wire.ts'

/** Counting goes no further; what is beyond is estimated, so that a catalog of millions answers like any other. */
const COUNTED_MAX = 50_000
const CATALOGS_MAX = 200

const Figures = Whole({
  id: Text,
  name: Text,
  user_id: Text,
  username: Text,
  /** Someone else's, who lets the caller act on it. */
  delegated: Bool,
  created_at: Text,
  product_count: Int,
  /** False: there are too many to count at once, and the number is an estimate. */
  counted_to_end: Bool,
  image_issue_count: Int,
  product_set_count: Int,
  scheduled_feed_id: TextOrNull,
  last_run_id: TextOrNull,
  last_run_state: TextOrNull,
  last_run_at: TextOrNull
})

const FIGURES = `
  select c.id, c.name, c.user_id, u.username, c.user_id <> $1 as delegated, c.created_at,
    counted.products as product_count, counted.products < $3 as counted_to_end,
    (select count(*)::int from (
      select from image_verdicts v where v.catalog_id = c.id limit 10000) verdicts) as image_issue_count,
    (select count(*)::int from product_sets s where s.catalog_id = c.id) as product_set_count,
    f.id as scheduled_feed_id, run.id as last_run_id, run.state as last_run_state,
    coalesce(run.finished_at, run.created_at) as last_run_at
  from product_catalogs c
  join users u on u.id = c.user_id
  cross join lateral (
    select count(*)::int as products from (select from products p where p.catalog_id = c.id limit $3) counting
  ) counted
  left join scheduled_feeds f on f.catalog_id = c.id
  left join lateral (
    select r.id, r.state, r.finished_at, r.created_at from feed_runs r
    where r.catalog_id = c.id and r.feed_id = f.id order by r.id desc limit 1
  ) run on true
  where c.environment = $2`
const MINE = `c.user_id = $1 or exists (
  select from catalog_delegates d where d.owner_user_id = c.user_id and d.user_id = $1)`

interface CatalogFigures {
  id: string
  product_count: number
  counted_to_end: boolean
}

/** What the planner thinks; a rough number that costs nothing. */
async function estimateProducts({ pool }: Database, catalogId: string): Promise<number> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    // A plan has no parameters; ids are digits.
    `explain (format json) select from products where catalog_id = '${BigInt(catalogId)}'`
  )
  return rows[0]!['QUERY PLAN'][0].Plan['Plan Rows']
}

async function withEstimates(database: Database, catalogs: CatalogFigures[]) {
  for (const catalog of catalogs.filter((each) => !each.counted_to_end))
    catalog.product_count = Math.max(catalog.product_count, await estimateProducts(database, catalog.id))
  return catalogs
}

async function listFigures(database: Database, userId: string, environment: Environment) {
  const { rows } = await database.pool.query<CatalogFigures>({
    name: 'catalog.figures',
    text: `${FIGURES} and (${MINE}) order by c.user_id <> $1, c.id limit ${CATALOGS_MAX}`,
    values: [userId, environment, COUNTED_MAX]
  })
  return withEstimates(database, rows)
}

export async function getFigures(
  database: Database,
  userId: string,
  environment: Environment,
  id: string,
  countedMax = COUNTED_MAX
) {
  const { rows } = await database.pool.query<CatalogFigures>({
    name: 'catalog.figures_of_one',
    text: `${FIGURES} and c.id = $4`,
    values: [userId, environment, countedMax, id]
  })
  if (!rows[0]) throw catalogNotFound(id)
  return (await withEstimates(database, rows))[0]
}

export function catalogFigureRoutes(scope: AdsScope) {
  const { database } = scope.deps
  const shared = { method: 'GET', resource: 'product_catalogs', output: Figures, extension: true } as const

  catalogRoute(scope, {
    ...shared,
    path: '/product_catalogs/overview',
    summary: 'All catalogs that the user may act on, those of others included, with how much is in them.',
    many: 'without_cursor',
    handler: async ({ principal, environment }) => ({
      rows: await listFigures(database, principal.user.id, environment)
    })
  })

  catalogRoute(scope, {
    ...shared,
    path: CATALOG,
    summary: 'One catalog, with how much is in it.',
    handler: ({ catalog, principal, environment }) => getFigures(database, principal.user.id, environment, catalog.id)
  })
}
