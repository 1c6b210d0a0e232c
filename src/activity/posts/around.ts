/** What a new post stands among: the posts it answers, quotes or replaces, and the people it names. */
import { findUsers, findUsersByName, type User } from '../../identity/index.ts'
import type { Db } from '../../storage/db.ts'
import type { Includes } from '../facets.ts'
import { entitiesIn, type Json, known, textOf } from '../legacy.ts'
import { findPosts, type StoredPost } from './posts.ts'

/** As a v2 user; the profile is what the host platform told. */
export const userObject = ({ id, username, name, protected: isProtected, profile, created_at }: User): Json => ({
  created_at,
  ...profile,
  id,
  name,
  username,
  protected: isProtected
})

/** A post that the author of a new one may refer to; undefined where Herald does not keep it. */
export async function referredPost(db: Db, id: string | undefined, userId: string) {
  if (id === undefined) return undefined
  const [post] = await findPosts(db, [id])
  if (!post) return undefined
  const hidden = post.author_id !== userId && (post.protected || (await findUsers(db, [post.author_id]))[0]?.protected)
  return { post, hidden: hidden === true }
}

/** Hashtags, cashtags, links and mentions; a mention of somebody whom Herald knows has their id. */
export async function entitiesOf(db: Db, text: string): Promise<{ entities: Json | undefined; users: User[] }> {
  const { mentions, ...others } = entitiesIn(text)
  const users = await findUsersByName(
    db,
    mentions.map(({ username }) => String(username))
  )
  const byName = new Map(users.map((user) => [user.username.toLowerCase(), user]))
  const found = {
    ...others,
    mentions: mentions.map((mention) =>
      known({ ...mention, id: byName.get(String(mention.username).toLowerCase())?.id })
    )
  }
  const entities = Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0))
  return { entities: Object.keys(entities).length > 0 ? entities : undefined, users }
}

export async function includesOf(db: Db, userIds: readonly string[], posts: readonly StoredPost[]): Promise<Includes> {
  const authors = posts.map(({ author_id }) => author_id)
  const users = await findUsers(db, [...new Set([...userIds, ...authors])])
  return {
    users: users.map(userObject),
    ...(posts.length > 0 ? { tweets: posts.map(({ payload }) => payload) } : {})
  }
}

/** In front of a reply, the people it goes to: the author and whoever they mentioned, but not the one who replies. */
export async function replyNames(
  db: Db,
  original: StoredPost,
  mentioned: readonly string[],
  without: ReadonlySet<string>
) {
  const ids = [...new Set([original.author_id, ...mentioned])].filter((id) => !without.has(id))
  const users = new Map((await findUsers(db, ids)).map((user) => [user.id, user.username]))
  return ids.flatMap((id) => textOf(users.get(id)) ?? [])
}
