/**
 * Bench `paging`: what page 5,000 of a list of 100,000 campaigns costs, divided by page 1, for every order that the list
 * knows; and the same while somebody else writes. Pages have 20 rows.
 */
import { campaigns } from '../src/campaigns/campaigns.ts'
import { listEntities } from '../src/storage/entities.ts'
import { fragment } from '../src/storage/statements.ts'
import { startAds } from './support/ads.ts'

const CAMPAIGNS = 100_000
const PAGE = 20
const DEEP = 5_000
const ROUNDS = 41
const BAR = 1.3

/** The lower quartile: what it takes when nobody else is using the machine. */
const calm = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)]!

export default async function paging() {
  const ads = await startAds(CAMPAIGNS)
  const app = ads.herald.apps.main
  const base = `/12/accounts/${ads.accountId}/campaigns?count=${PAGE}`
  const get = async (query: string) => {
    const response = await app.inject({ url: `${base}${query}`, headers: ads.headers })
    if (response.statusCode !== 200) throw new Error(response.body)
    return response.json() as { next_cursor: string | null; data: { id: string }[] }
  }
  const timed = async (query: string) => {
    const began = performance.now()
    await get(query)
    return performance.now() - began
  }

  const figures: Record<string, number> = {}
  const reference: Record<string, number> = {}
  const ratio: Record<string, number> = {}
  const orders = ['', ...campaigns.sortable.flatMap((name) => [`${name}-asc`, `${name}-desc`])]
  for (const order of orders) {
    const sorted = order === '' ? '' : `&sort_by=${order}`
    const deep = `${sorted}&cursor=${await deepCursor(ads, order)}`
    const rounds: [number, number][] = []
    for (let i = 0; i < ROUNDS; i++) rounds.push([await timed(deep), await timed(sorted)])
    const name = order || 'id'
    figures[name] = Math.round(calm(rounds.map(([last]) => last)) * 100) / 100
    reference[name] = Math.round(calm(rounds.map(([, first]) => first)) * 100) / 100
    ratio[name] = Math.round((calm(rounds.map(([last]) => last)) / calm(rounds.map(([, first]) => first))) * 100) / 100
  }
  await ads.close()
  const worst = Math.max(...Object.values(ratio))
  console.log(
    JSON.stringify({ bench: 'paging', figures, reference, ratio, worst, bar: BAR, pass: worst <= BAR, unit: 'ms' })
  )
}

/** The cursor of page 5,000: the list's own, walked to in big steps and without what makes rows expensive. */
async function deepCursor({ herald, accountId }: Awaited<ReturnType<typeof startAds>>, order: string) {
  let cursor: string | undefined
  for (let left = (DEEP - 1) * PAGE; left > 0; left -= 1000) {
    const page = await listEntities(
      herald.deps.database,
      'campaigns',
      { count: Math.min(left, 1000), ...(order ? { sort_by: [order] } : {}), ...(cursor ? { cursor } : {}) },
      {
        where: { account_id: accountId },
        conditions: [fragment`e.entity_status <> 'DRAFT'`],
        inputs: [false, undefined],
        sortable: campaigns.sortable,
        nullable: campaigns.nullable!
      }
    )
    cursor = page.next_cursor!
  }
  return cursor
}
