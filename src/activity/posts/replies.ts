/** Who may reply to a post, and whom a reply goes to. */
import { forbidden } from '../../errors.ts'
import type { Db } from '../../storage/db.ts'
import { mentionedIds } from '../facets.ts'
import { entitiesIn, lengthOf, objectsIn, textOf } from '../legacy.ts'
import { replyNames } from './around.ts'
import type { NewPost } from './new-post.ts'
import { findPosts, includedIn, type StoredPost } from './posts.ts'

const mentionedIn = ({ payload, includes }: StoredPost) => mentionedIds(payload, includes)

/** The author may ask for it by a mention, or by quoting a post of the one who replies. */
async function isSummoned(db: Db, original: StoredPost, userId: string): Promise<boolean> {
  if (original.author_id === userId || mentionedIn(original).includes(userId)) return true
  const quoted = objectsIn(original.payload.referenced_tweets).flatMap(({ type, id }) =>
    type === 'quoted' ? (textOf(id) ?? []) : []
  )
  const authors = [
    ...includedIn(original, 'tweets').flatMap((post) =>
      quoted.includes(String(post.id)) ? (post.author_id ?? []) : []
    ),
    ...(await findPosts(db, quoted)).map((post) => post.author_id)
  ]
  return authors.includes(userId)
}

/** What Herald does not know of cannot forbid anything, unless replies need a summons. */
export async function refuseUnwelcome(db: Db, original: StoredPost | undefined, userId: string, needsSummons: boolean) {
  if (needsSummons && !(original && (await isSummoned(db, original, userId))))
    throw forbidden('FORBIDDEN', 'A reply needs a summons: the author of the post must have mentioned or quoted you.')
  if (!original || original.author_id === userId) return
  if (original.payload.reply_settings === 'mentionedUsers' && !mentionedIn(original).includes(userId))
    throw forbidden('FORBIDDEN', 'Only those whom the post mentions may reply to it.')
}

/** The text of a reply, with the people it goes to in front if that was asked for. */
export async function replyText(db: Db, post: NewPost, original: StoredPost | undefined, userId: string) {
  const text = post.text ?? ''
  if (!original || !post.reply?.auto_populate_reply_metadata) return { text }
  const without = new Set([userId, ...(post.reply.exclude_reply_user_ids ?? [])])
  const names = await replyNames(db, original, mentionedIn(original), without)
  const said = new Set(entitiesIn(text).mentions.map(({ username }) => String(username).toLowerCase()))
  const prefix = names.filter((name) => !said.has(name.toLowerCase())).map((name) => `@${name} `)
  const shown = prefix.join('')
  if (shown === '') return { text }
  return { text: shown + text, display_text_range: [lengthOf(shown), lengthOf(shown + text)] }
}
