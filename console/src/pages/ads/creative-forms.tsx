/** What a line item shows: posts, an account, or media of the account. */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Callout, Loading } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/fields.tsx'
import { say } from '../../ui/overlays.tsx'
import { type CheckedForm, FormNotes, useCheckedForm } from './form.tsx'
import { type AccountMedia, mediaQuery, type PromotableUser, promotableUsersQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { readable } from './words.ts'

interface CreativeFormProps {
  lineItemId: string
  onClose: () => void
}

interface FrameProps {
  form: Pick<CheckedForm<Record<string, string>, unknown>, 'general' | 'state' | 'waiting' | 'saving' | 'submit'>
  onClose: () => void
  action: string
  children: React.ReactNode
}

function Frame({ form, onClose, action, children }: FrameProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      {children}
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Adding …'}>
          {action}
        </Button>
      </div>
    </form>
  )
}

/** Ids, or addresses of posts that end with one. */
const postIds = (typed: string) =>
  typed
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((each) => each.replace(/^.*\/(\d+)(?:[?#].*)?$/, '$1'))

export function PostsForm({ lineItemId, onClose }: CreativeFormProps) {
  const scope = useScope()
  const [initial] = useState({ tweet_ids: '' })
  const form = useCheckedForm<typeof initial>({
    initial,
    method: 'POST',
    path: scope.at('/promoted_tweets'),
    needed: ['tweet_ids'],
    problems: ({ tweet_ids }) => {
      const wrong = postIds(tweet_ids).find((each) => !/^\d{1,19}$/.test(each))
      return { tweet_ids: wrong === undefined ? undefined : `“${wrong.slice(0, 60)}” is no id of a post.` }
    },
    body: ({ tweet_ids }) => ({ line_item_id: lineItemId, tweet_ids: postIds(tweet_ids).join(',') }),
    onDone: async () => {
      await scope.changed()
      say('The posts are promoted')
      onClose()
    }
  })
  return (
    <Frame form={form} onClose={onClose} action="Promote">
      <TextArea
        label="Posts"
        autoFocus
        rows={4}
        className="mono"
        hint="Ids or addresses of posts, up to 50, one per line."
        {...form.field('tweet_ids')}
      />
    </Frame>
  )
}

export function PromotedAccountForm(props: CreativeFormProps) {
  const { data } = useQuery(promotableUsersQuery(useScope()))
  const users = data?.data.filter(({ promotable_user_type: type }) => type === 'FULL')
  if (!users) return <Loading what="accounts" />
  return users.length === 0 ? (
    <Callout tone="warn">This ad account may promote nobody; the operator of this server can change that.</Callout>
  ) : (
    <AccountChoice {...props} users={users} />
  )
}

function AccountChoice({ lineItemId, onClose, users }: CreativeFormProps & { users: PromotableUser[] }) {
  const scope = useScope()
  const [initial] = useState({ user_id: users[0]!.user_id })
  const form = useCheckedForm<typeof initial>({
    initial,
    method: 'POST',
    path: scope.at('/promoted_accounts'),
    body: ({ user_id }) => ({ line_item_id: lineItemId, user_id }),
    onDone: async () => {
      await scope.changed()
      say('The account is promoted')
      onClose()
    }
  })
  return (
    <Frame form={form} onClose={onClose} action="Promote">
      <SelectField
        label="Account to promote"
        {...form.field('user_id')}
        choices={users.map(({ user_id }) => [user_id, `User ${user_id}`])}
      />
    </Frame>
  )
}

export function MediaForm(props: CreativeFormProps & { objective: string | undefined }) {
  const { data } = useQuery(mediaQuery(useScope()))
  if (!data) return <Loading what="media" />
  return data.data.length === 0 ? (
    <Callout tone="warn">This account has no media yet; the operator of this server adds them.</Callout>
  ) : (
    <MediaChoice {...props} media={data.data} />
  )
}

export const mediaLabel = ({ creative_type, media_url, video_id, id }: AccountMedia) =>
  `${readable(creative_type)} · ${media_url?.split('/').at(-1) ?? (video_id ? `video ${video_id}` : id)}`

function MediaChoice({
  lineItemId,
  onClose,
  media,
  objective
}: CreativeFormProps & { media: AccountMedia[]; objective: string | undefined }) {
  const scope = useScope()
  const [initial] = useState({ account_media_id: media[0]!.id, landing_url: '' })
  const form = useCheckedForm<typeof initial>({
    initial,
    method: 'POST',
    path: scope.at('/media_creatives'),
    body: ({ account_media_id, landing_url }) => ({
      line_item_id: lineItemId,
      account_media_id,
      ...(landing_url ? { landing_url } : {})
    }),
    onDone: async () => {
      await scope.changed()
      say('The media is attached')
      onClose()
    }
  })
  const video = media.find(({ id }) => id === form.values.account_media_id)?.video_id
  return (
    <Frame form={form} onClose={onClose} action="Attach">
      <SelectField
        label="Media"
        {...form.field('account_media_id')}
        choices={media.map((each) => [each.id, mediaLabel(each)])}
      />
      {video ? null : (
        <TextField
          label="Landing page"
          type="url"
          placeholder="https://"
          hint={
            objective === 'WEBSITE_CLICKS' ? 'Where a click leads; needed for website clicks.' : 'Where a click leads.'
          }
          {...form.field('landing_url')}
        />
      )}
    </Frame>
  )
}
