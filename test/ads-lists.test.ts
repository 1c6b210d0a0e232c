/** What every list of the advertising API promises: paging, sorting, filters, deleted rows, totals. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { campaigns } from '../src/campaigns/campaigns.ts'
import { type ListQuery, listEntities, listStatement } from '../src/storage/entities.ts'
import { newAdsId } from '../src/storage/ids.ts'
import { fragment } from '../src/storage/statements.ts'
import { startApp } from './app.ts'
import { type Advertiser, codes, givenAdvertiser, givenCampaign, givenLineItem, type Json } from './given-ads.ts'

const app = await startApp({ after })
const { database } = app.deps
const ROWS = 5
const STAMPS = ['created_at', 'updated_at', 'deleted']

interface List {
  path: string
  /** The filter by ids of the rows themselves. */
  ids?: string
  sortable: string[]
  /** What the list cannot do without. */
  query?: (me: Advertiser) => Json
  /** Makes row number `i` and says its id. */
  make(me: Advertiser, i: number): Promise<string>
  remove?: (me: Advertiser, id: string) => Promise<unknown>
}

const parents = new Map<string, Promise<Json>>()
/** One line item per account and kind, for what hangs on it. */
function lineItemOf(me: Advertiser, input: Json = {}): Promise<Json> {
  const key = `${me.accountId} ${JSON.stringify(input)}`
  if (!parents.has(key)) parents.set(key, givenLineItem(me, input))
  return parents.get(key)!
}

const inDatabase = async (
  me: Advertiser,
  table: 'account_apps' | 'account_media' | 'promotable_users',
  values: Json
) => {
  const stamp = new Date(app.deps.clock.now()).toISOString()
  const row = { account_id: me.accountId, id: newAdsId(), created_at: stamp, updated_at: stamp, ...values }
  await database.db
    .insertInto(table)
    .values(row as never)
    .execute()
  return row.id
}

const posted = async (me: Advertiser, path: string, input: Json) => {
  const { data, body } = await me.post(path, input)
  assert.ok(data, JSON.stringify(body))
  return (Array.isArray(data) ? data[0] : data).id as string
}
const deleted = (path: string) => (me: Advertiser, id: string) => me.delete(`${path}/${id}`)

const LISTS: List[] = [
  {
    path: 'campaigns',
    ids: 'campaign_ids',
    sortable: [
      ...STAMPS,
      'name',
      'start_time',
      'end_time',
      'daily_budget_amount_local_micro',
      'total_budget_amount_local_micro',
      'standard_delivery'
    ],
    make: async (me, i) =>
      (
        await givenCampaign(me, {
          name: ['delta', 'Alpha', 'charlie', 'Bravo', 'echo'][i % 5],
          daily_budget_amount_local_micro: 1_000_000 * (7 - (i % 5)),
          ...(i % 2 ? { total_budget_amount_local_micro: 10_000_000 + i * 1_000_000 } : {}),
          standard_delivery: i % 3 === 0
        })
      ).id,
    remove: deleted('campaigns')
  },
  {
    path: 'line_items',
    ids: 'line_item_ids',
    sortable: [...STAMPS, 'bid_amount_local_micro'],
    make: async (me, i) =>
      (await givenLineItem(me, { ...(i % 2 ? { bid_amount_local_micro: 1_000_000 - i * 10_000 } : {}) })).id,
    remove: deleted('line_items')
  },
  {
    path: 'funding_instruments',
    ids: 'funding_instrument_ids',
    sortable: [...STAMPS, 'funded_amount_local_micro', 'start_time', 'end_time'],
    make: (me, i) =>
      posted(me, 'funding_instruments', {
        currency: 'USD',
        type: 'INSERTION_ORDER',
        start_time: `202${i % 5}-01-01`,
        ...(i % 2 ? { end_time: `203${i % 5}-01-01`, funded_amount_local_micro: 1_000_000 * (9 - (i % 5)) } : {})
      }),
    remove: deleted('funding_instruments')
  },
  {
    path: 'promoted_tweets',
    ids: 'promoted_tweet_ids',
    sortable: [...STAMPS, 'paused'],
    make: async (me, i) => posted(me, 'promoted_tweets', { line_item_id: (await lineItemOf(me)).id, tweet_ids: i + 1 }),
    remove: deleted('promoted_tweets')
  },
  {
    path: 'promoted_accounts',
    ids: 'promoted_account_ids',
    sortable: [...STAMPS, 'paused'],
    make: async (me) => {
      const { id } = await givenLineItem(me, { objective: 'FOLLOWERS', product_type: 'PROMOTED_ACCOUNT' })
      return posted(me, 'promoted_accounts', { line_item_id: id, user_id: me.userId })
    },
    remove: deleted('promoted_accounts')
  },
  {
    path: 'media_creatives',
    ids: 'media_creative_ids',
    sortable: STAMPS,
    make: async (me) => {
      const [media] = (await me.get('account_media', { creative_types: 'BANNER' })).data
      return posted(me, 'media_creatives', { line_item_id: (await lineItemOf(me)).id, account_media_id: media.id })
    },
    remove: deleted('media_creatives')
  },
  {
    path: 'targeting_criteria',
    ids: 'targeting_criterion_ids',
    sortable: STAMPS,
    query: (me) => lineItemOf(me).then((row) => ({ line_item_ids: row.id })),
    make: async (me, i) =>
      posted(me, 'targeting_criteria', {
        line_item_id: (await lineItemOf(me)).id,
        targeting_type: 'BROAD_KEYWORD',
        targeting_value: `word ${i}`
      }),
    remove: deleted('targeting_criteria')
  },
  {
    path: 'tracking_tags',
    ids: 'tracking_tag_ids',
    sortable: STAMPS,
    make: async (me, i) =>
      posted(me, 'tracking_tags', {
        line_item_id: (await lineItemOf(me)).id,
        tracking_tag_type: 'CLICK_TRACKER',
        tracking_tag_url: `https://tags.example.com/${i}`
      }),
    remove: deleted('tracking_tags')
  },
  {
    path: 'line_item_curated_categories',
    sortable: STAMPS,
    make: async (me) => {
      const { id: line_item_id } = await givenLineItem(me)
      await me.post('targeting_criteria', {
        line_item_id,
        targeting_type: 'LOCATION',
        targeting_value: '96683cc9126741d1'
      })
      const [category] = (await me.get('curated_categories', { country_codes: 'US' })).data
      return posted(me, 'line_item_curated_categories', { line_item_id, curated_category_id: category.id })
    },
    remove: deleted('line_item_curated_categories')
  },
  {
    path: 'account_media',
    ids: 'account_media_ids',
    sortable: STAMPS,
    make: (me, i) =>
      inDatabase(me, 'account_media', { creative_type: 'BANNER', media_url: `https://media.example.com/${i}` }),
    remove: deleted('account_media')
  },
  {
    path: 'account_apps',
    sortable: STAMPS,
    make: (me, i) => inDatabase(me, 'account_apps', { app_store_identifier: `com.example.${i}`, os_type: 'Android' })
  },
  {
    path: 'promotable_users',
    ids: 'promotable_user_ids',
    sortable: STAMPS,
    make: (me, i) =>
      inDatabase(me, 'promotable_users', { user_id: String(100 + i), promotable_user_type: 'RETWEETS_ONLY' })
  }
]

const idsOf = (rows: Json[]) => rows.map((row) => row.id as string)

/** Nulls last, as the pages have them; undefined when the answer does not show the attribute. */
function inOrder(rows: Json[], attribute: string, descending: boolean) {
  const values = rows.map((row) => row[attribute])
  if (values.some((value) => value === undefined)) return true
  const present = values.filter((value) => value !== null)
  const nullsLast = values.slice(present.length).every((value) => value === null)
  const pairs = present.slice(1).map((value, i) => [present[i], value])
  return nullsLast && pairs.every(([a, b]) => (descending ? a >= b : a <= b))
}

for (const { path, ids: filter, sortable, query, make, remove } of LISTS) {
  test(`${path}: pages, sorts, filters, counts and hides what is deleted`, async () => {
    const me = await givenAdvertiser(app, { environment: 'sandbox' })
    for (let i = 0; i < ROWS; i++) await make(me, i)
    const needed = (await query?.(me)) ?? {}
    const list = (input: Json = {}) => me.get(path, { ...needed, ...input })
    const walk = async (input: Json, between?: (page: number) => Promise<unknown>) => {
      const rows: Json[] = []
      for (let cursor: string | null | undefined, page = 0; cursor !== null; page++) {
        const { status, body } = await list({ ...input, ...(cursor ? { cursor } : {}) })
        assert.equal(status, 200, JSON.stringify(body))
        rows.push(...body.data)
        cursor = body.next_cursor
        if (cursor !== null) {
          assert.equal(body.data.length, input.count, 'a page shorter than count is the last')
          await between?.(page)
        }
      }
      return rows
    }
    const { data: all, body } = await list()
    assert.ok(all.length >= ROWS)
    assert.equal(body.next_cursor, null)

    assert.deepEqual(await walk({ count: 2 }), all, 'pages add up to the list')
    assert.equal((await list({ with_total_count: true })).body.total_count, all.length)
    assert.equal('total_count' in body, false)
    for (const attribute of sortable) {
      for (const direction of ['asc', 'desc']) {
        const sort_by = `${attribute}-${direction}`
        const rows = await walk({ sort_by, count: 2 })
        assert.deepEqual(idsOf(rows).sort(), idsOf(all).sort(), sort_by)
        const shown = attribute === 'paused' ? 'entity_status' : attribute
        assert.ok(inOrder(rows, shown, direction === 'desc'), `${sort_by}: ${rows.map((row) => row[shown])}`)
      }
    }
    const sorted = await list({ sort_by: `${sortable[0]}-desc` })
    assert.deepEqual(sorted.body.request.params.sort_by, [`${sortable[0]}-desc`], 'echoed as a list')

    const refused = async (input: Json) => codes(await list(input))
    assert.deepEqual(await refused({ count: 0 }), ['INVALID_PARAMETER count'])
    assert.deepEqual(await refused({ count: 1001 }), ['INVALID_PARAMETER count'])
    assert.equal((await list({ count: 1000 })).status, 200)
    assert.deepEqual(await refused({ sort_by: 'colour-asc' }), ['INVALID_PARAMETER sort_by'])
    assert.deepEqual(await refused({ sort_by: 'created_at-up' }), ['INVALID_PARAMETER sort_by'])
    assert.deepEqual(await refused({ cursor: 'nonsense' }), ['INVALID_PARAMETER cursor'])
    const { next_cursor } = (await list({ count: 2 })).body
    assert.deepEqual(await refused({ cursor: next_cursor, with_total_count: true }), ['EXCLUSIVE_PARAMETERS'])
    assert.deepEqual(await refused({ cursor: next_cursor, sort_by: 'created_at-desc' }), ['INVALID_PARAMETER cursor'])
    if (filter) {
      const wanted = idsOf(all).slice(1, 3)
      assert.deepEqual(idsOf((await list({ [filter]: `${wanted},zzzz` })).data), wanted)
      const many = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`).join(',')
      assert.equal((await list({ [filter]: many(200) })).status, 200)
      assert.deepEqual(await refused({ [filter]: many(201) }), [`INVALID_PARAMETER ${filter}`])
    }

    // Others write while somebody reads: nothing that was there is missed or seen twice.
    const seen = idsOf(
      await walk({ count: 2 }, async (page) => {
        await make(me, ROWS + page)
        if (page === 0 && remove) await remove(me, all[0].id)
      })
    )
    assert.equal(new Set(seen).size, seen.length)
    assert.deepEqual(
      idsOf(all).filter((id) => !seen.includes(id)),
      []
    )
    if (!remove) return
    assert.ok(!idsOf((await list()).data).includes(all[0].id))
    const withDeleted = (await list({ with_deleted: true })).data.find((row: Json) => row.id === all[0].id)
    assert.equal(withDeleted.deleted, true)
    assert.equal((await me.get(`${path}/${all[0].id}`)).status, 404)
    assert.equal((await me.get(`${path}/${all[0].id}`, { with_deleted: true })).data.deleted, true)
    assert.equal((await me.delete(`${path}/${all[0].id}`)).status, 404, 'a second delete')
  })
}

test('accounts: sort by created_at, updated_at, deleted and name', async () => {
  const me = await givenAdvertiser(app, { environment: 'sandbox', name: 'Zebra' })
  const [made] = (await me.post('/accounts')).data
  for (const attribute of ['created_at', 'updated_at', 'deleted', 'name']) {
    const up = (await me.get('/accounts', { sort_by: `${attribute}-asc` })).data
    const down = (await me.get('/accounts', { sort_by: `${attribute}-desc` })).data
    assert.deepEqual(idsOf(up).sort(), [me.accountId, made.id].sort())
    assert.deepEqual(idsOf(down), idsOf(up).reverse())
  }
  assert.deepEqual(
    (await me.get('/accounts', { sort_by: 'name-asc' })).data.map((row: Json) => row.name),
    ['Sandbox account', 'Zebra']
  )
})

test('several attributes can be mixed', async () => {
  const me = await givenAdvertiser(app)
  for (let i = 0; i < 6; i++) {
    await givenCampaign(me, { name: `c${i}`, ...(i % 2 ? { total_budget_amount_local_micro: 200_000_000 } : {}) })
  }
  const sort_by = 'total_budget_amount_local_micro-desc,name-asc'
  const whole = (await me.get('campaigns', { sort_by })).data.map((row: Json) => row.name)
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, body } = await me.get('campaigns', { sort_by, count: 2, ...(cursor ? { cursor } : {}) })
    paged.push(...data.map((row: Json) => row.name))
    cursor = body.next_cursor
  }
  assert.deepEqual(whole, ['c1', 'c3', 'c5', 'c0', 'c2', 'c4'])
  assert.deepEqual(paged, whole)
})

test('campaigns: every order of a large account is read from an index, on the first page and in the middle', async () => {
  const me = await givenAdvertiser(app)
  const others = await Promise.all([givenAdvertiser(app), givenAdvertiser(app)])
  for (const each of [me, ...others]) {
    await database.pool.query(
      `insert into campaigns (account_id, id, name, name_folded, funding_instrument_id, budget_optimization,
         daily_budget_amount_local_micro, total_budget_amount_local_micro, entity_status, standard_delivery, currency,
         created_at, updated_at)
       select $1, '1' || lpad(n::text, 12, '0'), 'Campaign ' || n, 'campaign ' || n, $2, 'CAMPAIGN', n % 900 * 10000 + 10000,
         case when n % 3 > 0 then n % 9000 * 10000 + 10000 end, 'ACTIVE', n % 2 = 0, 'USD', date_trunc('second', now()) - n * interval '1 minute',
         date_trunc('second', now()) - n % 777 * interval '1 minute'
       from generate_series(1, 4000) n`,
      [each.accountId, each.fundingInstrumentId]
    )
  }
  await database.pool.query('analyze campaigns')
  const of = (query: ListQuery) => ({
    query: { count: 50, ...query },
    list: {
      where: { account_id: me.accountId },
      conditions: [fragment`e.entity_status <> 'DRAFT'`],
      sortable: campaigns.sortable,
      nullable: campaigns.nullable!
    }
  })
  const orders = ['id', ...campaigns.sortable].flatMap((name) =>
    name === 'id' ? [undefined] : [[`${name}-asc`], [`${name}-desc`]]
  )
  for (const sort_by of orders) {
    const first = of(sort_by ? { sort_by } : {})
    const { next_cursor } = await listEntities(database, 'campaigns', first.query, first.list)
    for (const cursor of [undefined, next_cursor!]) {
      const { query, list } = of({ ...(sort_by ? { sort_by } : {}), ...(cursor ? { cursor } : {}) })
      const { text, values } = listStatement('campaigns', query, list)
      const { rows } = await database.pool.query(`explain ${text}`, values)
      const plan = rows.map((row: Json) => row['QUERY PLAN']).join('\n')
      // Sorting what little has no value is fine; sorting the account's campaigns is not.
      const sorted = [...plan.matchAll(/Sort {2}\(.*?rows=(\d+)/g)].map((match) => Number(match[1]))
      assert.ok(
        sorted.every((estimate) => estimate <= 60),
        `${sort_by} ${plan}`
      )
      assert.match(plan, /Index Scan( Backward)? using campaigns_/, String(sort_by))
    }
  }
})
