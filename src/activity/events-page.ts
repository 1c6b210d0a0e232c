/** docs/events.md, for those who publish: every event type with an example, and what each product makes of it. */
import { concernsOf } from './account-activity-deliver.ts'
import { accountActivityContent, accountActivityText, type Directory } from './account-activity-payloads.ts'
import { activityEnvelope, activityPayload } from './envelope.ts'
import { type Example, eventExamples } from './event-examples.ts'
import { EVENT_TYPES, type EventType, eventTypeNamed } from './event-types.ts'
import { EVENTS_PER_CALL_MAX } from './events.ts'
import { type Facet, facetsOf, type Includes, type PublishedEvent, subjectOf } from './facets.ts'

const WIDTH = 118
/** Examples bring along whom they mention. */
const NOBODY_KNOWN: Directory = { users: new Map(), apps: new Map() }

/** The event that publishing an example makes of it. */
export const publishedExample = ({ payload, includes, ...example }: Example, id = example.id): PublishedEvent => ({
  id,
  event_type: example.event_type,
  user_id: example.user_id ?? subjectOf(example.event_type, payload) ?? null,
  payload,
  includes: (includes as Includes | undefined) ?? null,
  occurred_at: example.occurred_at
})

export interface Derived {
  /** Whose subscriptions, to which type. */
  facet: Facet
  filter: Record<string, string>
  body: unknown
}

/** What the Activity API delivers because of an event, by type and user. */
export const derivedActivity = (event: PublishedEvent): Derived[] =>
  facetsOf(event).map((facet) => {
    const filter: Record<string, string> =
      eventTypeNamed(facet.event_type)!.filter === 'keyword' ? { keyword: 'tacos' } : { user_id: facet.user_id! }
    return {
      facet,
      filter,
      body: activityEnvelope(event, facet.event_type, { event_type_given: facet.event_type, filter, tag: null })
    }
  })

/** What account activity delivers because of an event, as JSON text: ids are numbers beyond 2^53. */
export const derivedAccountActivity = (event: PublishedEvent) =>
  concernsOf({ event, facets: facetsOf(event) }).map(({ user_id, facets, group }) => ({
    user_id,
    body: accountActivityText(
      user_id,
      facets,
      event,
      JSON.stringify(accountActivityContent(event, group, NOBODY_KNOWN))
    )
  }))

const isRaw = (value: object) => (JSON as unknown as { isRawJSON(value: object): boolean }).isRawJSON(value)

/** JSON that stays on one line where it fits. */
export function laidOut(value: unknown, indent = ''): string {
  const text = JSON.stringify(value)
  if (text.length + indent.length <= WIDTH || value === null || typeof value !== 'object' || isRaw(value)) return text
  const inner = `${indent}  `
  const entries = Object.entries(value).filter(([, child]) => child !== undefined)
  const lines = Array.isArray(value)
    ? value.map((child) => `${inner}${laidOut(child, inner)}`)
    : entries.map(([key, child]) => `${inner}${JSON.stringify(key)}: ${laidOut(child, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

const block = (value: unknown) => ['```json', laidOut(value), '```']
const rawObject = (text: string): unknown =>
  JSON.parse(text, (_key, value, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && context?.source
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
      : value
  )

const needs = ({ visibility, scope }: EventType) =>
  visibility === 'public' ? 'Public' : `Private: its user must have granted \`${scope}\``

/** One of many whose payload is passed on, and the one with most to it. */
const SHOWN_ANYWAY = ['post.create', 'profile.update.bio']

function section(type: EventType, example: Example): string[] {
  const event = publishedExample(example, '1902600000000000001')
  const [first, ...others] = derivedActivity(event)
  const accounts = derivedAccountActivity(event)
  const whom = ({ event_type, user_id }: Facet) => `\`${event_type}\`${user_id === null ? '' : ` of user ${user_id}`}`
  const whoever = [...new Set([first!, ...others].map(({ facet }) => whom(facet)))].join(', ')
  const unchanged = activityPayload(event, event.event_type) === event.payload
  return [
    `## ${type.name}`,
    '',
    `${type.about} ${needs(type)}.${type.aliases ? ` Also called ${type.aliases.map((alias) => `\`${alias}\``).join(', ')}.` : ''}`,
    '',
    ...block(example),
    '',
    ...(unchanged && !SHOWN_ANYWAY.includes(type.name)
      ? [`Activity API, to subscriptions to ${whoever}, with the payload as it is.`]
      : [`Activity API, to subscriptions to ${whoever}:`, '', ...block(first!.body)]),
    ...(accounts.length === 0
      ? []
      : [
          '',
          `Account activity, to ${accounts.map(({ user_id }) => `user ${user_id}`).join(' and ')}:`,
          '',
          ...block(rawObject(accounts.at(-1)!.body))
        ]),
    ''
  ]
}

const INTRODUCTION = `# Events

How the host platform tells Herald what happened, with an example of every event type and what each product makes of it.
This page is printed from \`src/activity/events-page.ts\` by \`npm run check -- --fix\`; a test publishes all of it.

\`POST /admin/events\` with the admin token takes \`{"events": […]}\`, up to ${EVENTS_PER_CALL_MAX.toLocaleString('en')} at a time, or any number of them as
\`application/x-ndjson\`, one per line. It answers 202 with an id for each once they are durable; if one event is not
well formed, none is published and the answer says which and why.

| Field | Meaning |
|---|---|
| \`event_type\` | One of the names below. |
| \`user_id\` | Whom the event is about. May be left out where the payload says so (author, sender, recipient, source). |
| \`payload\` | What happened, as in the examples. More fields than shown are passed on. |
| \`id\` | Optional. Publishing the same id again does nothing; the answer then says \`"duplicate": true\`. |
| \`occurred_at\` | Optional, ISO 8601; now if absent. |
| \`includes\` | Optional. \`users\` and \`tweets\` that the payload refers to, as v2 objects. |

Tell a thing once. A post that mentions, answers, quotes or reposts somebody also counts as \`post.mention.create\`,
\`post.reply.create\`, \`post.quote.create\` or \`post.repost.create\` of that user; a message is \`dm.sent\` by one and
\`dm.received\` by the other; a like and a follow concern both sides. Telling both anyway is harmless: whatever has been
told already is not told again. Quotes and reposts need the original in \`includes.tweets\` to know its author.

Posts of authors who protect them (\`protected\` in \`includes.users\`, or of a user that Herald knows) reach nobody but,
through account activity, the author. Users that an event does not describe are described as Herald knows them.
`

export function printEvents(): string {
  const examples = eventExamples()
  return `${[INTRODUCTION, ...EVENT_TYPES.flatMap((type, at) => section(type, examples[at]!))].join('\n').trimEnd()}\n`
}
