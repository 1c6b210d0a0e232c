/** Whether a post may be edited, and what its new version keeps of it. */
import { isoTime } from '../../clock.ts'
import { forbidden } from '../../errors.ts'
import type { UserPrincipal } from '../../http/auth.ts'
import { invalidRequest } from '../../http/problems.ts'
import { findUser } from '../../identity/index.ts'
import { isObject, type Json, objectsIn, textOf, timeOf } from '../legacy.ts'
import type { PostDeps } from './create-post.ts'
import { findPosts, historyOf, ownPost, type StoredPost } from './posts.ts'

/** How long a post may be edited, and how often. */
export const EDITABLE_MS = 3_600_000
export const EDITS_MAX = 5

/** An edit and a deletion are published under this name, so that a version ends once: whoever comes second finds it taken. */
export const endOf = (id: string) => `end of post ${id}`

export interface Edited {
  replaced(): Error
  history: string[]
  controls: Json
  conversation_id: string | undefined
  in_reply_to_user_id: string | undefined
  /** What it replies to; what it quotes may change. */
  references: Json[]
  referred: StoredPost[]
}

/** Document 1: the caller's own post, made within the last hour, and a premium subscription. */
export async function previousVersion({ db, clock }: PostDeps, { user }: UserPrincipal, id: string): Promise<Edited> {
  const post = await ownPost(db, user.id, id, 'edit_options.previous_post_id')
  const replaced = () =>
    invalidRequest({
      message: `$.edit_options.previous_post_id: post ${id} was edited already; edit its newest version`,
      parameters: { 'edit_options.previous_post_id': [id] }
    })
  if (post.replaced_by !== null) throw replaced()
  // Users without a word about it are those of a host that does not sell any.
  if ((await findUser(db, user.id))?.profile.subscription_type === 'None')
    throw forbidden('FORBIDDEN', 'Editing posts needs a premium subscription.')
  const told = isObject(post.payload.edit_controls) ? post.payload.edit_controls : {}
  const until = timeOf(told.editable_until) ?? Date.parse(post.created_at) + EDITABLE_MS
  const remaining = typeof told.edits_remaining === 'number' ? told.edits_remaining : EDITS_MAX
  if (told.is_edit_eligible === false) throw forbidden('FORBIDDEN', 'This post cannot be edited.')
  if (clock.now() >= until) throw forbidden('FORBIDDEN', `This post could be edited until ${isoTime(until)}.`)
  if (remaining < 1) throw forbidden('FORBIDDEN', `A post can be edited ${EDITS_MAX} times.`)
  const references = objectsIn(post.payload.referenced_tweets).filter(({ type }) => type === 'replied_to')
  return {
    replaced,
    history: historyOf(post),
    controls: { editable_until: isoTime(until), edits_remaining: remaining - 1, is_edit_eligible: true },
    conversation_id: textOf(post.payload.conversation_id),
    in_reply_to_user_id: textOf(post.payload.in_reply_to_user_id),
    references,
    referred: await findPosts(
      db,
      references.flatMap(({ id }) => textOf(id) ?? [])
    )
  }
}
