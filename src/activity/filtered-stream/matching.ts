/** Posts that match somebody's rules, and what is sent of them. The same on webhooks and streams. */
import type { Db } from '../../storage/db.ts'
import type { NewDelivery } from '../../webhooks/index.ts'
import { isProtected } from '../deliver-subscriptions.ts'
import type { Incoming } from '../events.ts'
import type { PublishedEvent } from '../facets.ts'
import { objectsIn, unwrapped } from '../legacy.ts'
import { embeddingScore, type Includes, PostView, type RawPost } from '../rules/index.ts'
import { findLinks } from './links.ts'
import { projectPost, type Selection } from './post-fields.ts'
import type { Matched, RuleSet } from './rule-set.ts'

export interface PostMatch {
  event: PublishedEvent
  post: PostView
  /** The rules that match, by app. */
  byApp: ReadonlyMap<string, readonly Matched[]>
}

/** As rules read it: users flat, however they came, and nothing that is null. */
export function viewOf({ payload, includes }: Pick<PublishedEvent, 'payload' | 'includes'>): PostView {
  const flat = includes?.users ? { ...includes, users: objectsIn(includes.users).map(unwrapped) } : includes
  return new PostView(withoutNulls(payload) as unknown as RawPost, withoutNulls(flat ?? {}) as Includes)
}

/** Producers say "none" by leaving a field out or by null. The same value if it holds no null. */
function withoutNulls<T>(value: T): T {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const items = value.map(withoutNulls)
    return (items.some((item, at) => item !== value[at]) ? items : value) as T
  }
  let copy: Record<string, unknown> | undefined
  for (const [key, child] of Object.entries(value)) {
    const kept = withoutNulls(child)
    if (kept === child && kept !== null) continue
    copy ??= { ...value } as Record<string, unknown>
    if (kept === null) delete copy[key]
    else copy[key] = kept
  }
  return (copy ?? value) as T
}

/** Public posts only: those of protected accounts are never delivered. */
export async function matchPosts(ruleSet: RuleSet, incoming: readonly Incoming[]): Promise<PostMatch[]> {
  const posts = incoming.filter(
    ({ event, protectedAuthor }) =>
      event.event_type === 'post.create' && !(protectedAuthor ?? isProtected(event, event))
  )
  if (posts.length === 0) return []
  await ruleSet.ready()
  if (ruleSet.size === 0) return []
  return posts.flatMap(({ event }): PostMatch[] => {
    const { post, byApp } = match(ruleSet, event)
    return byApp.size > 0 ? [{ event, post, byApp }] : []
  })
}

/** Publishers may send anything beside the text. What makes no sense must not keep a post from being published. */
function match(ruleSet: RuleSet, event: PublishedEvent) {
  try {
    const post = viewOf(event)
    return { post, byApp: ruleSet.match(post) }
  } catch {
    const { id, text, author_id } = event.payload
    const post = viewOf({ payload: { id, text, author_id }, includes: null })
    return { post, byApp: ruleSet.match(post) }
  }
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
    const matches = await matchPosts(ruleSet, incoming)
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
