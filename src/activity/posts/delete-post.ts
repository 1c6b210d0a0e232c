/** Deleting a post, with all its versions. */
import type { UserPrincipal } from '../../http/auth.ts'
import { resourceNotFound } from '../../http/problems.ts'
import { publishEvents } from '../events.ts'
import type { PostDeps } from './create-post.ts'
import { historyOf, ownPost } from './posts.ts'

export async function deletePost({ db, publishing }: PostDeps, { user }: UserPrincipal, id: string) {
  const asked = await ownPost(db, user.id, id, 'id')
  const newest = asked.replaced_by === null ? asked : await ownPost(db, user.id, asked.replaced_by, 'id')
  const events = historyOf(newest)
    .reverse()
    .map((version) => ({
      id: `deletion of post ${version}`,
      event_type: 'post.delete',
      user_id: user.id,
      payload: { id: version, author_id: user.id }
    }))
  const [published] = await publishEvents(publishing, events)
  // Whoever came first has deleted it.
  if (published?.duplicate) throw resourceNotFound('tweet', 'id', id)
  return { deleted: true }
}
