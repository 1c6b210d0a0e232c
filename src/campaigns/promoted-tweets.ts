/** Promoted posts: posts shown by a line item. Created, read and deleted, never updated. */
import { badRequest } from '../errors.ts'
import { ADS_LIMITS, type AdsScope, listInput } from '../http/ads.ts'
import { bool, id, list, long, required } from '../http/ads-input.ts'
import { newAdsId } from '../storage/ids.ts'
import { fragment } from '../storage/statements.ts'
import { recordChanges } from './history.ts'
import { getLineItem } from './line-items.ts'
import { withPaused } from './promoted-accounts.ts'
import { getRow, kind, listWire, removeRow, rowNotFound, SORTABLE, type Stamped } from './rows.ts'
import { Entity, EntityFields, STAMPS, Text, wire } from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface PromotedTweetRow extends Stamped {
  line_item_id: string
  tweet_id: string
  entity_status: string
  approval_status: string
}

declare module '../storage/db.ts' {
  interface Tables {
    promoted_tweets: PromotedTweetRow
  }
}

export const promotedTweets = kind<PromotedTweetRow>('promoted_tweets', 'Promoted tweet', 'PROMOTED_TWEET_NOT_FOUND', {
  sortable: [...SORTABLE, 'entity_status']
})
export const TWEET_IDS_MAX = 50

const PromotedTweet = Entity({
  line_item_id: Text,
  tweet_id: Text,
  entity_status: Text,
  approval_status: Text,
  ...EntityFields
})

const snapshot = (row: PromotedTweetRow) => {
  const { account_id: _account, ...sent } = wire(row, STAMPS)
  return sent
}
const entityOf = (row: PromotedTweetRow) => ({
  account_id: row.account_id,
  entity: 'PROMOTED_TWEET' as const,
  entity_id: row.id
})

/** What a change from one row to the other is called in the history. */
export const promotedTweetChange = (before: PromotedTweetRow, after: PromotedTweetRow) => ({
  ...entityOf(after),
  before: snapshot(before),
  after: snapshot(after)
})

/**
 * One promotion per line item and post: promoting again is answered with it, and revives it under its old id if it was
 * deleted. Posts live on the host platform, so any id is taken. See decisions/0060.
 */
export async function promoteTweets(write: Write, lineItemId: string, tweetIds: readonly string[]) {
  const { tx, account, now } = write
  const lineItem = await getLineItem(tx, account.id, lineItemId)
  if (lineItem.product_type !== 'PROMOTED_TWEETS') {
    throw badRequest('INCOMPATIBLE_LINE_ITEM', `Line item ${lineItem.id} is not configured for promoted posts`, {
      parameter: 'line_item_id'
    })
  }
  const wanted = [...new Set(tweetIds)]
  const known = (await tx
    .selectFrom('promoted_tweets')
    .selectAll()
    .where('account_id', '=', account.id)
    .where('line_item_id', '=', lineItem.id)
    .where('tweet_id', 'in', wanted)
    .execute()) as PromotedTweetRow[]
  const stamp = now.toISOString()
  const untouched = new Set(known.filter((row) => !row.deleted).map((row) => row.tweet_id))
  const values = wanted
    .filter((tweet_id) => !untouched.has(tweet_id))
    .map((tweet_id) => ({
      account_id: account.id,
      id: newAdsId(),
      line_item_id: lineItem.id,
      tweet_id,
      created_at: stamp,
      updated_at: stamp
    }))
  const written =
    values.length === 0
      ? []
      : ((await tx
          .insertInto('promoted_tweets')
          .values(values as never)
          .onConflict((oc) =>
            oc.columns(['account_id', 'line_item_id', 'tweet_id']).doUpdateSet({ deleted: false, updated_at: stamp })
          )
          .returningAll()
          .execute()) as PromotedTweetRow[])
  await recordChanges(
    write,
    written.map((row) => {
      const before = known.find((each) => each.id === row.id)
      return { ...entityOf(row), ...(before ? { before: snapshot(before) } : {}), after: snapshot(row) }
    })
  )
  const rows = [...known.filter((row) => !row.deleted), ...written]
  return wanted.map((tweetId) => rows.find((row) => row.tweet_id === tweetId)!)
}

async function removePromotedTweet(write: Write, id: string) {
  const { tx, account, now } = write
  const before = await getRow(tx, promotedTweets, account.id, id)
  const row = await removeRow(tx, promotedTweets, account.id, id, now)
  await recordChanges(write, [promotedTweetChange(before, row)])
  return row
}

/** "They appear in promoted-post reads only with with_deleted=true": those of a deleted line item. */
const ofLiveLineItem = fragment`exists (select 1 from line_items l
  where l.account_id = e.account_id and l.id = e.line_item_id and not l.deleted)`

const PATH = '/accounts/:account_id/promoted_tweets'
const ONE = `${PATH}/:promoted_tweet_id`

export function promotedTweetRoutes(scope: AdsScope) {
  const { database } = scope.deps
  const common = { output: PromotedTweet, extension: true }

  scope.route({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'Promoted posts; those of deleted line items only with with_deleted.',
    input: { ...listInput, line_item_ids: list(id()), promoted_tweet_ids: list(id()) },
    many: true,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: ({ path, input }) =>
      listWire(database, promotedTweets, path.account_id!, withPaused(input), {
        where: { line_item_id: input.line_item_ids, id: input.promoted_tweet_ids },
        conditions: input.with_deleted ? [] : [ofLiveLineItem]
      })
  })
  scope.route({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'One promoted post.',
    input: { with_deleted: bool() },
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: async ({ path, input }) => {
      const options = { withDeleted: input.with_deleted }
      const row = await getRow(database, promotedTweets, path.account_id!, path.promoted_tweet_id!, options)
      if (!input.with_deleted) {
        await getLineItem(database, row.account_id, row.line_item_id).catch(() => {
          throw rowNotFound(promotedTweets, row.id)
        })
      }
      return wire(row, STAMPS)
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Promote up to 50 posts with a line item.',
    input: { line_item_id: required(id()), tweet_ids: required(list(long({ min: 1n }), { max: TWEET_IDS_MAX })) },
    many: true,
    operation: 'campaigns.write',
    handler: async (write) => {
      const { line_item_id, tweet_ids } = write.input
      const rows = await promoteTweets(
        write,
        line_item_id,
        tweet_ids.map((tweetId) => tweetId.toString())
      )
      return { rows: rows.map((row) => wire(row, STAMPS)), total_count: rows.length }
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a promoted post.',
    operation: 'campaigns.write',
    handler: async (write) => wire(await removePromotedTweet(write, write.path.promoted_tweet_id!), STAMPS)
  })
}
