/** Deleting a post, with all its versions. */
import type { UserPrincipal } from '../../http/auth.ts'
import { publishEvents } from '../events.ts'
import type { PostDeps } from './create-post.ts'
import { endOf } from './edits.ts'
import { historyOf, ownPost } from './posts.ts'

export async function deletePost({ db, publishing }: PostDeps, { user }: UserPrincipal, id: string) {
  const deletion = (version: string) => ({
    event_type: 'post.delete',
    user_id: user.id,
    payload: { id: version, author_id: user.id }
  })
  for (let tried = ''; ; ) {
    // Whoever came first has deleted it: then there is none.
    const asked = await ownPost(db, user.id, id, 'id')
    const newest = asked.replaced_by === null ? asked : await ownPost(db, user.id, asked.replaced_by, 'id')
    // What ended once and is the newest again was published again by its host, and ends without a name.
    const name = newest.id === tried ? {} : { id: endOf(newest.id) }
    const [published] = await publishEvents(publishing, [{ ...deletion(newest.id), ...name }])
    if (!published!.duplicate) {
      // Older versions are gone with the newest; this only tells of them.
      const older = historyOf(newest).slice(0, -1)
      if (older.length > 0) await publishEvents(publishing, older.reverse().map(deletion))
      return { deleted: true }
    }
    // Edited meanwhile: its newest version is another one.
    tried = newest.id
  }
}
