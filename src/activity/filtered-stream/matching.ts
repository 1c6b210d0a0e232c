/** Posts that match somebody's rules, and what is sent of them. The same on webhooks and streams. */
import { sql } from 'kysely'
import type { Db } from '../../storage/db.ts'
import type { NewDelivery } from '../../webhooks/index.ts'
import { isProtected } from '../deliver-subscriptions.ts'
import type { Incoming } from '../events.ts'
import type { PublishedEvent } from '../facets.ts'
import { embeddingScore, PostView, type RawPost } from '../rules/index.ts'
import { findLinks } from './links.ts'
import { projectPost, type Selection } from './post-fields.ts'
import type { Matched, RuleSet } from './rule-set.ts'

export interface PostMatch {
  event: PublishedEvent
  post: PostView
  /** The rules that match, by app. */
  byApp: ReadonlyMap<string, readonly Matched[]>
}

export const viewOf = ({ payload, includes }: Pick<PublishedEvent, 'payload' | 'includes'>) =>
  new PostView(payload as unknown as RawPost, (includes ?? undefined) as never)

/** Public posts only: those of protected accounts are never delivered. */
export async function matchPosts(db: Db, ruleSet: RuleSet, incoming: readonly Incoming[]): Promise<PostMatch[]> {
  const posts = incoming.filter(
    ({ event, facets }) => event.event_type === 'post.create' && facets[0] && !isProtected(event, facets[0])
  )
  if (posts.length === 0) return []
  await ruleSet.ready()
  if (ruleSet.size === 0) return []
  const matches = posts.flatMap(({ event }): PostMatch[] => {
    const post = viewOf(event)
    const byApp = ruleSet.match(post)
    return byApp.size > 0 ? [{ event, post, byApp }] : []
  })
  return withoutProtected(db, matches)
}

/** An account may be known as protected here, although the publisher did not say so. */
async function withoutProtected(db: Db, matches: PostMatch[]): Promise<PostMatch[]> {
  if (matches.length === 0) return matches
  const authors = [...new Set(matches.map(({ event }) => event.payload.author_id as string))]
  const { rows } = await sql<{ id: string }>`
    select id from users where id = any(${authors}::text[]) and protected`.execute(db)
  if (rows.length === 0) return matches
  const hidden = new Set(rows.map(({ id }) => id))
  return matches.filter(({ event }) => !hidden.has(event.payload.author_id as string))
}

export function matchedPost({ event, post }: PostMatch, rules: readonly Matched[], selection: Selection): string {
  return JSON.stringify({
    ...projectPost(event, selection),
    matching_rules: rules.map(({ id, meta: { tag, embedding } }) => ({
      id,
      ...(tag === null ? {} : { tag }),
      ...(embedding ? embeddingScore(embedding, post) : {})
    }))
  })
}

/** The product of the publishing pipeline: one delivery per post and linked webhook, however many rules match. */
export const filteredStreamDeliveries =
  (ruleSet: RuleSet) =>
  async (tx: Db, incoming: readonly Incoming[]): Promise<NewDelivery[]> => {
    const matches = await matchPosts(tx, ruleSet, incoming)
    if (matches.length === 0) return []
    const links = await findLinks(tx, [...new Set(matches.flatMap(({ byApp }) => [...byApp.keys()]))])
    return matches.flatMap((match) =>
      [...match.byApp].flatMap(([app_id, rules]) =>
        (links.get(app_id) ?? []).map(
          ({ webhook_id, selection }): NewDelivery => ({
            app_id,
            webhook_id,
            event_id: match.event.id,
            kind: 'filtered_stream',
            body: matchedPost(match, rules, selection)
          })
        )
      )
    )
  }
