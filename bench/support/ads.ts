/** An advertiser with many campaigns on a Herald of its own, for the benches of the advertising API. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createAccount, createFundingInstrument } from '../../src/campaigns/index.ts'
import { loadConfig } from '../../src/config.ts'
import { createHerald } from '../../src/herald.ts'
import { createApp, createOAuth2UserToken, createUser } from '../../src/identity/index.ts'
import { createLog } from '../../src/serve.ts'
import { removeEmbedded, startEmbedded } from '../../src/storage/embedded.ts'

/** Ids are made in the database: thirteen characters whose order is that of their number. */
const MANY_CAMPAIGNS = `insert into campaigns (account_id, id, name, name_folded, funding_instrument_id, budget_optimization,
    daily_budget_amount_local_micro, total_budget_amount_local_micro, entity_status, standard_delivery, currency, created_at,
    updated_at)
  select $1, '1' || lpad(n::text, 12, '0'), 'Campaign ' || n, 'campaign ' || n, $2, 'CAMPAIGN', (1 + n % 900) * 1000000::bigint,
    case when n % 3 = 0 then null else (1000 + n % 9000) * 1000000::bigint end, case when n % 5 = 0 then 'PAUSED' else 'ACTIVE' end,
    n % 2 = 0, 'USD', date_trunc('second', now()) - (n % 100000) * interval '1 minute',
    date_trunc('second', now()) - (n % 77777) * interval '1 minute'
  from generate_series(1, $3::int) n`
const MANY_LINE_ITEMS = `insert into line_items (account_id, id, campaign_id, funding_instrument_id, placements, product_type,
    objective, goal, pay_by, bid_strategy, entity_status, currency, created_at, updated_at)
  select account_id, id, id, funding_instrument_id, array['ALL_ON_SVC'], 'PROMOTED_TWEETS', 'ENGAGEMENTS', 'ENGAGEMENT',
    'ENGAGEMENT', 'AUTO', 'ACTIVE', 'USD', created_at, updated_at
  from campaigns where account_id = $1`
const MANY_POSTS = `insert into promoted_tweets (account_id, id, line_item_id, tweet_id, created_at, updated_at)
  select account_id, id, id, '1', created_at, updated_at from line_items where account_id = $1`

export async function startAds(campaigns: number) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-bench-'))
  const server = await startEmbedded({ dataDir })
  const config = loadConfig({
    HERALD_DATA_DIR: dataDir,
    HERALD_PORT: '0',
    HERALD_SANDBOX_PORT: '0',
    HERALD_RATE_LIMITS: 'off',
    HERALD_LOG_LEVEL: 'error'
  })
  const herald = await createHerald({ config, databaseUrl: server.url, log: createLog(config) })
  const { database, vault } = herald.deps
  const now = new Date()
  const { db, pool } = database
  const user = await createUser(db, { username: 'bench' }, now)
  const app = await createApp(db, vault, { name: 'bench', ads_access: 'read-write' }, now)
  const token = await createOAuth2UserToken(
    db,
    { app_id: app.id, user_id: user.id, scopes: ['ads.read', 'ads.write'], expiresIn: null },
    now
  )
  const { id: accountId } = await createAccount(db, { environment: 'production', ownerUserId: user.id }, now)
  const instrument = await createFundingInstrument(
    db,
    accountId,
    { currency: 'USD', start_time: '2020-01-01T00:00:00Z', type: 'CREDIT_CARD' },
    now
  )
  await pool.query(MANY_CAMPAIGNS, [accountId, instrument.id, campaigns])
  await pool.query(MANY_LINE_ITEMS, [accountId])
  await pool.query(MANY_POSTS, [accountId])
  await pool.query('vacuum analyze')
  const { rows } = await pool.query<{ id: string }>('select id from campaigns where account_id = $1 order by id', [
    accountId
  ])
  const { main } = await herald.listen()
  return {
    herald,
    origin: main,
    accountId,
    fundingInstrumentId: instrument.id,
    ids: rows.map((row) => row.id),
    headers: { authorization: `Bearer ${token.access_token}` },
    async close() {
      await herald.stop()
      await server.stop()
      await removeEmbedded(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}
