/**
 * Bench `api`: a single read and a filtered list page, against a bare fastify route with the same prepared statement on the
 * same pool and the same response schema. Both are asked in turns, so that a busy machine slows both.
 */
import Fastify from 'fastify'
import { Campaign, campaigns, FACTS_OF_PAGE, ONE_CAMPAIGN } from '../src/campaigns/campaigns.ts'
import { listStatement } from '../src/storage/entities.ts'
import { fragment } from '../src/storage/statements.ts'
import { startAds } from './support/ads.ts'
import { startLoad } from './support/load.ts'

const CAMPAIGNS = 20_000
const PAGE = 50
const ROUNDS = 41
const ROUND_MS = 250
/** Time for the compiler to see what is hot, on both sides. */
const WARM_UP_MS = 4_000
const CONNECTIONS = 16
const BAR = 0.7

/** The columns as they are stored, without what is derived. */
const { properties } = Campaign as unknown as { properties: Record<string, object> }
const DERIVED = ['servable', 'reasons_not_servable', 'effective_status', 'duration_in_days', 'frequency_cap']
const Row = {
  type: 'object',
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !DERIVED.includes(name)))
}
const answering = (data: object) => ({
  200: { type: 'object', properties: { request: {}, next_cursor: { type: 'string', nullable: true }, data } }
})

/** The upper quartile: what it does when nobody else is using the machine. */
const calm = (values: number[]) => values.toSorted((a, b) => b - a)[Math.floor(values.length / 4)]!

export default async function api() {
  const ads = await startAds(CAMPAIGNS)
  const { pool } = ads.herald.deps.database
  const load = startLoad()
  const bare = Fastify()
  bare.get<{ Params: { id: string } }>('/campaigns/:id', { schema: { response: answering(Row) } }, async (req) => {
    const { rows } = await pool.query({ name: 'bare.one', text: ONE_CAMPAIGN, values: [ads.accountId, req.params.id] })
    return { request: { params: {} }, data: rows[0] }
  })
  // The statements that the route under test runs for the same request.
  const statement = listStatement(
    'campaigns',
    { count: PAGE },
    {
      where: { account_id: ads.accountId, id: undefined, funding_instrument_id: [ads.fundingInstrumentId] },
      conditions: [fragment`e.entity_status <> 'DRAFT'`],
      sortable: campaigns.sortable
    }
  )
  bare.get<{ Querystring: { count: string } }>(
    '/campaigns',
    { schema: { response: answering({ type: 'array', items: Row }) } },
    async () => {
      const { rows } = await pool.query({ name: 'bare.list', text: statement.text, values: statement.values })
      const values = [ads.accountId, rows.map((row) => row.id).join(',')]
      await pool.query({ name: 'bare.facts', text: FACTS_OF_PAGE, values })
      return { request: { params: {} }, next_cursor: null, data: rows }
    }
  )
  const bareOrigin = await bare.listen({ host: '127.0.0.1', port: 0 })

  const base = `/12/accounts/${ads.accountId}/campaigns`
  const sample = ads.ids.filter((_, i) => i % 20 === 0)
  const cases = {
    single: [sample.map((id) => `${base}/${id}`), sample.map((id) => `/campaigns/${id}`)],
    list: [[`${base}?funding_instrument_ids=${ads.fundingInstrumentId}&count=${PAGE}`], ['/campaigns']]
  } as const
  const figures: Record<string, number> = {}
  const reference: Record<string, number> = {}
  const ratio: Record<string, number> = {}
  const run = async (origin: string, paths: readonly string[], milliseconds: number) =>
    (await load.run({ origin, paths: [...paths], headers: ads.headers, connections: CONNECTIONS, milliseconds }))
      .perSecond
  for (const [name, [ours, theirs]] of Object.entries(cases)) {
    await run(ads.origin, ours, WARM_UP_MS)
    await run(bareOrigin, theirs, WARM_UP_MS)
    const rounds: [number, number][] = []
    for (let i = 0; i < ROUNDS; i++) {
      rounds.push([await run(ads.origin, ours, ROUND_MS), await run(bareOrigin, theirs, ROUND_MS)])
    }
    figures[name] = calm(rounds.map(([mine]) => mine))
    reference[name] = calm(rounds.map(([, other]) => other))
    ratio[name] = Math.round((figures[name] / reference[name]) * 100) / 100
  }
  load.end()
  await bare.close()
  await ads.close()
  const pass = Object.values(ratio).every((each) => each >= BAR)
  console.log(JSON.stringify({ bench: 'api', figures, reference, ratio, bar: BAR, pass, unit: 'requests/s' }))
}
