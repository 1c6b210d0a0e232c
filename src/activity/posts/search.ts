/** Posts that match a query, newest first, with what the expansions lead to. */
import { type FieldQuery, projectPost, selectionOf } from '../filtered-stream/post-fields.ts'
import type { StoredPost } from './posts.ts'
import { criteriaOf, type List, type SearchDeps, type SearchQuery } from './search-query.ts'
import { scan } from './search-scan.ts'
import { encodePosition } from './search-tokens.ts'

type Thing = Record<string, unknown>
type Kind = 'users' | 'tweets' | 'media' | 'polls' | 'places'

const RESULTS_DEFAULT = 10

export type PostSearch = SearchQuery & FieldQuery & { max_results?: number }

export async function searchPosts(deps: SearchDeps, query: PostSearch, list: List, userId: string | undefined) {
  const criteria = await criteriaOf(deps, query, list, userId)
  const size = query.max_results ?? RESULTS_DEFAULT
  const found: StoredPost[] = []
  const next = await scan(deps, criteria, (post) => {
    if (found.length === size) return false
    found.push(post)
    return true
  })
  const { data, includes } = shown(found, query)
  return {
    ...(data.length > 0 ? { data } : {}),
    ...(includes ? { includes } : {}),
    meta: {
      ...(found.length > 0 ? { newest_id: found[0]!.id, oldest_id: found.at(-1)!.id } : {}),
      result_count: found.length,
      ...(next ? { next_token: encodePosition(next, list.name) } : {})
    }
  }
}

/** The posts with the fields that were asked for, and everything that was included with them once. */
export function shown(posts: readonly StoredPost[], query: FieldQuery) {
  const selection = selectionOf(query)
  const included = new Map<Kind, Map<unknown, Thing>>()
  const data = posts.map((post) => {
    const { data, includes } = projectPost(post, selection) as { data: Thing; includes?: Record<Kind, Thing[]> }
    for (const [kind, things] of Object.entries(includes ?? {}) as [Kind, Thing[]][]) {
      const known = included.get(kind) ?? new Map<unknown, Thing>()
      included.set(kind, known)
      for (const thing of things) {
        const key = thing.id ?? thing.media_key
        if (!known.has(key)) known.set(key, thing)
      }
    }
    return data
  })
  if (included.size === 0) return { data }
  return { data, includes: Object.fromEntries([...included].map(([kind, things]) => [kind, [...things.values()]])) }
}
