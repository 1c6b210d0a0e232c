/** Registers the receiver at the running server as any developer would: through the public API, with the app's token. */
import { badRequest } from '../errors.ts'
import { LISTEN_HOST } from '../tools/listen-files.ts'

export interface Target {
  baseUrl: string
  /** App-only. */
  bearer: string
  /** For private event types, which need the consent of the user. */
  userToken?: string
  url: string
  caFile: string
}

interface Problem {
  title?: string
  detail?: string
  errors?: { message: string; webhook_id?: string }[]
}

interface Answer {
  ok: boolean
  data: Record<string, unknown>
  problem: Problem
}

async function call(
  { baseUrl }: Target,
  bearer: string,
  method: string,
  route: string,
  body?: object
): Promise<Answer> {
  const response = await fetch(`${baseUrl}/2${route}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {})
  }).catch(() => {
    throw badRequest('NOT_RUNNING', `Herald does not answer at ${baseUrl}; start it with npm start`)
  })
  const answer = (await response.json()) as { data?: Record<string, unknown> } & Problem
  return { ok: response.ok, data: answer.data ?? {}, problem: answer }
}

const messageOf = ({ errors, detail, title }: Problem) =>
  errors?.map(({ message }) => message).join('; ') || detail || title || 'the server refused'

/** Registering twice is not an error: the webhook is validated again. */
export async function registerReceiver(target: Target, port: number): Promise<{ id: string }> {
  const created = await call(target, target.bearer, 'POST', '/webhooks', { url: target.url })
  if (created.ok) return { id: String(created.data.id) }
  const existing = created.problem.errors?.find(({ webhook_id }) => webhook_id)?.webhook_id
  if (existing) {
    const validated = await call(target, target.bearer, 'PUT', `/webhooks/${existing}`)
    if (validated.ok) return { id: existing }
    throw badRequest('CRC', `Webhook ${existing} exists, but: ${messageOf(validated.problem)}`)
  }
  const message = messageOf(created.problem)
  throw badRequest(
    'REGISTER',
    message.startsWith('UrlValidationFailed') ? `${message}\n${howToAllow(target, port)}` : message
  )
}

const howToAllow = ({ caFile }: Target, port: number) => `
The server does not reach this receiver. On this machine, restart it with

  HERALD_DEV_LISTENER=on npm start

or, if its data directory is another one, with

  HERALD_EGRESS_ALLOW_PRIVATE=1 HERALD_EGRESS_CA=${caFile} HERALD_EGRESS_RESOLVE=${LISTEN_HOST}=127.0.0.1:${port} npm start`

/** `post.create:42,profile.update.bio:42`; each is an event type and the user it is about. */
export async function subscribeReceiver(target: Target, webhookId: string, list: string): Promise<string> {
  const said: string[] = []
  for (const each of list.split(',')) {
    const [, eventType, userId] = /^\s*([\w.]+):(\d{1,19})\s*$/.exec(each) ?? []
    if (!eventType || !userId)
      throw badRequest(
        'SUBSCRIBE',
        `--subscribe must look like post.create:42 (an event type and a user id), not "${each}"`
      )
    const body = { event_type: eventType, filter: { user_id: userId }, webhook_id: webhookId }
    let answer = await call(target, target.bearer, 'POST', '/activity/subscriptions', body)
    if (!answer.ok && target.userToken && !isDuplicate(answer))
      answer = await call(target, target.userToken, 'POST', '/activity/subscriptions', body)
    if (!answer.ok && !isDuplicate(answer)) throw badRequest('SUBSCRIBE', messageOf(answer.problem))
    said.push(`Subscribed to ${eventType} of user ${userId}${answer.ok ? '' : ' already'}.`)
    if (eventType === 'post.create') said.push(`Try it:\n\n  ${exampleOf(userId)}\n`)
  }
  return said.join('\n')
}

const isDuplicate = ({ problem }: Answer) => /^DuplicateSubscriptionFailed/.test(messageOf(problem))

const exampleOf = (userId: string) =>
  `npx herald event publish - <<< '{"event_type":"post.create","user_id":"${userId}","payload":{"id":"1","text":"hello","author_id":"${userId}"}}'`
