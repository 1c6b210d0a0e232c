/** What the Activity API delivers, the same on webhooks and streams. */
import type { Includes, PublishedEvent } from './facets.ts'

const wrapped = (user: unknown) => (user !== null && typeof user === 'object' && 'data' in user ? user : { data: user })

/** Shapes as clients of this API know them; what a publisher sends is passed on otherwise. */
export function activityPayload(event: PublishedEvent, eventType: string): Record<string, unknown> {
  const { payload } = event
  if (/^(follow|mute|block)\./.test(eventType))
    return { ...payload, source: wrapped(payload.source), target: wrapped(payload.target) }
  if (/^spaces\./.test(eventType) && payload.user !== undefined)
    return { ...payload, user: wrapped(payload.user), event_type: eventType.replace('.', '_') }
  return payload
}

/** `post.delete` wraps its users; everything else has them flat. */
const activityIncludes = (includes: Includes, eventType: string) =>
  eventType === 'post.delete' && includes.users ? { ...includes, users: includes.users.map(wrapped) } : includes

export interface Addressee {
  event_type_given: string
  filter: unknown
  tag: string | null
}

export function activityEnvelope(
  event: PublishedEvent,
  eventType: string,
  { event_type_given, filter, tag }: Addressee
) {
  return {
    data: {
      event_uuid: event.id,
      filter,
      event_type: event_type_given,
      ...(tag === null ? {} : { tag }),
      payload: activityPayload(event, eventType),
      ...(event.includes ? { includes: activityIncludes(event.includes, eventType) } : {})
    }
  }
}
