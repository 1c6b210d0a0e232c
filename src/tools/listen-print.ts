/** What the receiver shows: lines for people, with colour on a terminal only, or one JSON object per line. */
import type { Received } from './listen.ts'
import type { Verdict } from './listen-verify.ts'

const CODES = { red: 31, green: 32, yellow: 33, cyan: 36, grey: 90, bold: 1 } as const
type Paint = (colour: keyof typeof CODES, text: string) => string

export const painter =
  (colours: boolean): Paint =>
  (colour, text) =>
    colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text

/** The name of what came, as far as a body tells. */
export function titleOf(body: unknown): string {
  if (body === null || typeof body !== 'object') return 'no JSON object'
  const { data, replay_job_status: status } = body as {
    data?: { event_type?: unknown }
    replay_job_status?: { job_state?: unknown }
  }
  if (typeof data?.event_type === 'string') return data.event_type
  if (status) return `replay_job_status ${String(status.job_state)}`
  return Object.keys(body).slice(0, 3).join(', ') || 'an empty object'
}

const isReplay = (body: unknown) => (body as { meta?: { replay?: unknown } } | undefined)?.meta?.replay === true

export function printReceived(request: Received, colours: boolean): string {
  const paint = painter(colours)
  const check = (name: string, verdict: Verdict) =>
    verdict === 'good'
      ? paint('green', `${name} ✔`)
      : verdict === 'bad'
        ? paint('red', `${name} ✘ wrong`)
        : paint('yellow', `${name} missing`)
  const answered = request.answer === 'none' ? 'no answer' : `→ ${request.answer}`
  const head = [
    paint('grey', request.at.slice(11, 23)),
    paint(
      'bold',
      request.what === 'event'
        ? titleOf(request.body)
        : request.what === 'crc'
          ? 'CRC'
          : `${request.method} ${request.url}`
    ),
    ...(request.id ? [paint('cyan', request.id)] : []),
    ...(isReplay(request.body) ? [paint('yellow', 'replayed')] : []),
    ...(request.repeated > 0
      ? [paint('yellow', `seen ${request.repeated === 1 ? 'once' : `${request.repeated} times`} before`)]
      : []),
    ...(request.what === 'other' ? [] : [check('signature', request.signature)]),
    ...(request.what === 'event' ? [check('standard', request.standard), `${request.bytes} bytes`] : []),
    request.answer === 200 ? paint('green', answered) : paint('red', answered)
  ]
  const lines = [head.join('  ')]
  if (request.signature === 'bad')
    lines.push(paint('red', "  The signature is not of this app's consumer secret: pass the right one with --secret."))
  if (request.what === 'event' && request.body !== undefined) lines.push(indent(pretty(request.body, colours)))
  return lines.join('\n')
}

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g

function pretty(body: unknown, colours: boolean) {
  const text = JSON.stringify(body, null, 2)
  if (!colours) return text
  const paint = painter(true)
  return text.replace(TOKEN, (all, string?: string, colon?: string) =>
    string === undefined ? paint('yellow', all) : colon ? `${paint('cyan', string)}${colon}` : paint('green', string)
  )
}

const indent = (text: string) => text.replace(/^/gm, '    ')
