/** New posts and new versions of posts: made here, told to everybody as if the host platform had published them. */
import { type Clock, isoTime } from '../../clock.ts'
import { forbidden } from '../../errors.ts'
import type { UserPrincipal } from '../../http/auth.ts'
import type { Db } from '../../storage/db.ts'
import { newId } from '../../storage/ids.ts'
import { type PublishDeps, publishEvents } from '../events.ts'
import { type Json, known, textOf } from '../legacy.ts'
import { entitiesOf, includesOf, referredPost } from './around.ts'
import { EDITABLE_MS, EDITS_MAX, type Edited, endOf, previousVersion } from './edits.ts'
import { type NewPost, refuseContradictions } from './new-post.ts'
import { refuseUnwelcome, replyText } from './replies.ts'

export interface PostDeps {
  db: Db
  clock: Clock
  publishing: PublishDeps
  charactersMax: number
  repliesNeedSummons: boolean
}

export async function createPost(deps: PostDeps, author: UserPrincipal, post: NewPost) {
  refuseContradictions(post, deps.charactersMax)
  const previous = post.edit_options?.previous_post_id
  const edited = previous === undefined ? undefined : await previousVersion(deps, author, previous)
  const { payload, includes } = await compose(deps, author, post, edited)
  const event = {
    event_type: 'post.create',
    user_id: author.user.id,
    payload,
    includes,
    occurred_at: payload.created_at
  }
  const named = previous === undefined ? event : { ...event, id: endOf(previous) }
  const [published] = await publishEvents(deps.publishing, [named])
  if (published?.duplicate) {
    // Edited or deleted meanwhile; what is gone cannot be found.
    await previousVersion(deps, author, previous!)
    throw edited!.replaced()
  }
  const { id, text, edit_history_tweet_ids } = payload
  return { id, text, edit_history_tweet_ids }
}

async function compose(
  { db, clock, repliesNeedSummons }: PostDeps,
  author: UserPrincipal,
  post: NewPost,
  edited?: Edited
) {
  const { user, app } = author
  const replyTo = await referredPost(db, post.reply?.in_reply_to_tweet_id, user.id)
  const quoted = await referredPost(db, post.quote_tweet_id, user.id)
  if (replyTo?.hidden || quoted?.hidden)
    throw forbidden('FORBIDDEN', 'The author of the post that this refers to protects their posts.')
  if (post.reply) await refuseUnwelcome(db, replyTo?.post, user.id, repliesNeedSummons)

  const id = newId()
  const now = clock.now()
  const { text, display_text_range } = await replyText(db, post, replyTo?.post, user.id)
  const { entities, users } = await entitiesOf(db, text)
  const polls = post.poll ? [pollOf(post.poll, now)] : []
  const references = [
    post.reply ? { type: 'replied_to', id: post.reply.in_reply_to_tweet_id } : [],
    post.quote_tweet_id ? { type: 'quoted', id: post.quote_tweet_id } : [],
    edited?.references ?? []
  ].flat()
  const conversation = edited?.conversation_id ?? textOf(replyTo?.post.payload.conversation_id)
  const payload = {
    id,
    text,
    author_id: user.id,
    created_at: isoTime(now),
    edit_history_tweet_ids: [...(edited?.history ?? []), id],
    ...known({
      edit_controls: edited?.controls ?? {
        editable_until: isoTime(now + EDITABLE_MS),
        edits_remaining: EDITS_MAX,
        is_edit_eligible: post.poll === undefined
      },
      conversation_id: conversation ?? post.reply?.in_reply_to_tweet_id ?? id,
      in_reply_to_user_id: edited?.in_reply_to_user_id ?? replyTo?.post.author_id,
      referenced_tweets: references.length > 0 ? references : undefined,
      display_text_range,
      entities,
      attachments: attachmentsOf(post, polls),
      geo: post.geo?.place_id === undefined ? undefined : { place_id: post.geo.place_id },
      reply_settings: post.reply_settings ?? post.poll?.reply_settings ?? 'everyone',
      source: app.name,
      public_metrics: { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0 },
      community_id: post.community_id,
      share_with_followers: post.share_with_followers,
      paid_partnership: post.paid_partnership,
      made_with_ai: post.made_with_ai,
      nullcast: post.nullcast,
      for_super_followers_only: post.for_super_followers_only,
      card_uri: post.card_uri,
      direct_message_deep_link: post.direct_message_deep_link
    })
  }
  const referred = [replyTo?.post ?? [], quoted?.post ?? [], edited?.referred ?? []].flat()
  const includes = await includesOf(db, [user.id, ...users.map((each) => each.id)], referred)
  return { payload, includes: { ...includes, ...(polls.length > 0 ? { polls } : {}) } }
}

const pollOf = ({ options, duration_minutes }: NonNullable<NewPost['poll']>, now: number) => ({
  id: newId(),
  options: options.map((label, at) => ({ position: at + 1, label, votes: 0 })),
  duration_minutes,
  end_datetime: isoTime(now + duration_minutes * 60_000),
  voting_status: 'open'
})

/** Of what kind a medium is only its host knows, so its key begins with none of the known kinds. */
function attachmentsOf({ media }: NewPost, polls: readonly { id: string }[]): Json | undefined {
  if (media) return { media_keys: media.media_ids.map((id) => `0_${id}`) }
  return polls.length > 0 ? { poll_ids: polls.map(({ id }) => id) } : undefined
}
