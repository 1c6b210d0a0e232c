/** The body of POST /2/tweets and POST /2/posts, and the rules between its fields. */
import { type Static, Type } from 'typebox'
import { invalidRequest } from '../../http/problems.ts'
import { Id } from '../../http/v2.ts'
import { weightedLength } from './text-length.ts'

const closed = { additionalProperties: false }
const REPLY_SETTINGS = ['following', 'mentionedUsers', 'subscribers', 'verified'] as const
const ReplySettings = Type.Optional(Type.Enum(REPLY_SETTINGS as unknown as (typeof REPLY_SETTINGS)[number][]))
const Flag = Type.Optional(Type.Boolean())

const fields = {
  text: Type.Optional(Type.String({ minLength: 1 })),
  reply: Type.Optional(
    Type.Object(
      {
        in_reply_to_tweet_id: Id,
        exclude_reply_user_ids: Type.Optional(Type.Array(Id, { uniqueItems: true })),
        auto_populate_reply_metadata: Flag
      },
      closed
    )
  ),
  quote_tweet_id: Type.Optional(Id),
  media: Type.Optional(
    Type.Object(
      {
        media_ids: Type.Array(Id, { minItems: 1, maxItems: 4, uniqueItems: true }),
        tagged_user_ids: Type.Optional(Type.Array(Id, { maxItems: 10, uniqueItems: true }))
      },
      closed
    )
  ),
  poll: Type.Optional(
    Type.Object(
      {
        options: Type.Array(Type.String({ minLength: 1, maxLength: 25 }), { minItems: 2, maxItems: 4 }),
        duration_minutes: Type.Integer({ minimum: 5, maximum: 10_080 }),
        reply_settings: ReplySettings
      },
      closed
    )
  ),
  geo: Type.Optional(Type.Object({ place_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })) }, closed)),
  reply_settings: ReplySettings,
  community_id: Type.Optional(Id),
  share_with_followers: Type.Optional(
    Type.Boolean({ description: 'With `community_id`: the followers see the post as well.' })
  ),
  paid_partnership: Flag,
  made_with_ai: Flag,
  nullcast: Flag,
  for_super_followers_only: Flag,
  card_uri: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  direct_message_deep_link: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 }))
}
const EditOptions = Type.Object({ previous_post_id: Id }, closed)

export const NewPost = Type.Object({ ...fields, edit_options: Type.Optional(EditOptions) }, closed)
export const EditedPost = Type.Object({ ...fields, edit_options: EditOptions }, closed)
export type NewPost = Static<typeof NewPost>

/** A post carries one of these at most. */
const ATTACHED = ['media', 'poll', 'quote_tweet_id', 'card_uri'] as const

/** What the schema cannot say. */
export function refuseContradictions(post: NewPost, charactersMax: number) {
  const attached = ATTACHED.filter((name) => post[name] !== undefined)
  const refusals: string[] = []
  if (attached.length > 1) refusals.push(`$: ${attached.join(' and ')} are mutually exclusive`)
  if (post.text?.trim() === '') refusals.push('$.text: holds nothing but space')
  if (post.text === undefined && (attached.length === 0 || post.poll))
    refusals.push('$.text: is missing but it is required')
  if (post.share_with_followers !== undefined && post.community_id === undefined)
    refusals.push('$.share_with_followers: needs community_id')
  const length = weightedLength(post.text ?? '')
  if (length > charactersMax) refusals.push(`$.text: is ${length} characters long, the maximum is ${charactersMax}`)
  if (post.edit_options && post.reply) refusals.push('$.reply: an edit stays the reply that it was')
  if (post.edit_options && post.poll) refusals.push('$.poll: an edit cannot add a poll')
  if (refusals.length > 0) throw invalidRequest(...refusals.map((message) => ({ message })))
}
