/** Direct messages: read in whichever form they were published, delivered in one. See docs/decisions/0067. */
import { type FindUser, isObject, type Json, known, legacyEntities, objectsIn, textOf, timeOf } from './legacy.ts'

/** Under which key each type is delivered, by both products. */
export const MESSAGE_KEYS: Record<string, string> = {
  'dm.sent': 'direct_message_events',
  'dm.received': 'direct_message_events',
  'dm.read': 'direct_message_mark_read_events',
  'dm.indicate_typing': 'direct_message_indicate_typing_events'
}

export interface MessageSource {
  event_type: string
  user_id: string | null
  payload: Json
  occurred_at: string
}

export interface DirectMessage {
  id: string | undefined
  sender_id: string | undefined
  recipient_id: string | undefined
}

/** The element a publisher sent in the older shape, if it did. */
const elementOf = ({ event_type, payload }: Pick<MessageSource, 'event_type' | 'payload'>) =>
  objectsIn(payload[MESSAGE_KEYS[event_type] ?? ''])[0]

const recipientIn = (holder: unknown) =>
  isObject(holder)
    ? (textOf(holder.recipient_id) ?? (isObject(holder.target) ? textOf(holder.target.recipient_id) : undefined))
    : undefined

/** Who wrote to whom, as far as the payload tells. */
export function messageOf(source: Pick<MessageSource, 'event_type' | 'payload'>): DirectMessage {
  const element = elementOf(source)
  const create = isObject(element?.message_create) ? element.message_create : undefined
  const holder = create ?? element ?? source.payload
  const sender_id = textOf(holder.sender_id)
  return {
    id: textOf((element ?? source.payload).id),
    sender_id,
    recipient_id: recipientIn(holder) ?? otherSide(source.payload.dm_conversation_id, sender_id)
  }
}

/** A conversation of two is named after both: `42-43`. */
const otherSide = (conversation: unknown, sender: string | undefined) => {
  const [, one, other] = /^(\d{1,19})-(\d{1,19})$/.exec(textOf(conversation) ?? '') ?? []
  return sender === one ? other : sender === other ? one : undefined
}

/** Somebody joined or left a conversation, which is nobody's message. */
export function isParticipantChange(payload: Json) {
  const [element] = objectsIn(payload.direct_message_events)
  return /^participants_?(join|leave)$/i.test(
    textOf(payload.event_type) ?? textOf(element?.type) ?? textOf(element?.event_type) ?? ''
  )
}

/** Both sides, filled in from whom the event is about. */
export function parties(source: MessageSource): DirectMessage {
  const message = messageOf(source)
  if (isParticipantChange(source.payload)) return message
  const user = source.user_id ?? undefined
  return source.event_type === 'dm.sent'
    ? { ...message, sender_id: message.sender_id ?? user }
    : { ...message, recipient_id: message.recipient_id ?? user }
}

/** "`participant_ids` is present only on ParticipantsJoin and ParticipantsLeave … and is absent on MessageCreate." */
export function messageElement(source: MessageSource, find: FindUser): Json {
  const { event_type, payload } = source
  const element = elementOf(source)
  const { id, sender_id, recipient_id } = parties(source)
  const created_timestamp =
    textOf(element?.created_timestamp) ?? String(timeOf(payload.created_at) ?? timeOf(source.occurred_at))
  const target = recipient_id === undefined ? undefined : { recipient_id }
  if (event_type === 'dm.read' || event_type === 'dm.indicate_typing') {
    const last_read_event_id =
      event_type === 'dm.read' ? ((element ?? payload).last_read_event_id ?? payload.id) : undefined
    return known({ created_timestamp, sender_id, target, last_read_event_id })
  }
  if (isParticipantChange(payload)) return participantElement(element ?? payload, created_timestamp)
  if (element) {
    const { participant_ids: _, ...rest } = element
    return { type: 'message_create', ...rest, created_timestamp }
  }
  const text = textOf(payload.text) ?? ''
  return known({
    type: 'message_create',
    id,
    created_timestamp,
    message_create: known({
      target,
      sender_id,
      source_app_id: payload.source_app_id,
      message_data: known({
        text,
        entities: legacyEntities(payload.entities, text, find),
        attachment: payload.attachment,
        quick_reply_response: payload.quick_reply_response
      })
    })
  })
}

function participantElement(from: Json, created_timestamp: string): Json {
  const joined = /join/i.test(textOf(from.event_type) ?? textOf(from.type) ?? '')
  return known({
    type: joined ? 'participants_join' : 'participants_leave',
    event_type: joined ? 'ParticipantsJoin' : 'ParticipantsLeave',
    id: from.id,
    created_timestamp,
    dm_conversation_id: from.dm_conversation_id,
    sender_id: from.sender_id,
    participant_ids: Array.isArray(from.participant_ids) ? from.participant_ids : []
  })
}
