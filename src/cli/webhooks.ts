/** What the admin API tells about webhooks, at the terminal. */
import { badRequest } from '../errors.ts'
import type { Command } from './commands.ts'
import { callAdmin } from './server.ts'

type Row = Record<string, unknown>

function id(positionals: string[], at: number, what: string): string {
  const value = positionals[at]
  if (value === undefined) throw badRequest('MISSING', `The id of the ${what} is missing; add --help`)
  return encodeURIComponent(value)
}

const columns = (rows: unknown, ...names: string[]) =>
  (rows as Row[]).map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))

export const WEBHOOK_COMMANDS: Command[] = [
  {
    name: 'webhook list',
    about: 'Webhooks of all apps: why invalid, what waits, how they answer.',
    run: async ({ env }) =>
      columns(
        await callAdmin(env, 'GET', 'webhooks?max_results=200'),
        ...['id', 'url', 'valid', 'invalid_reason', 'backlog', 'success_rate', 'last_crc_outcome']
      )
  },
  {
    name: 'webhook validate',
    args: '<webhook id>',
    about: 'Send a CRC now and re-enable the webhook; says what was observed.',
    run: ({ positionals, env }) => callAdmin(env, 'POST', `webhooks/${id(positionals, 0, 'webhook')}/validate`)
  },
  {
    name: 'webhook test',
    args: '<webhook id>',
    about: 'Send a signed test event.',
    run: ({ positionals, env }) => callAdmin(env, 'POST', `webhooks/${id(positionals, 0, 'webhook')}/test_event`)
  },
  {
    name: 'webhook why',
    args: '<webhook id> <event id>',
    about: 'Why was this event not delivered to this webhook?',
    run: async ({ positionals, values, env }) => {
      const route = `webhooks/${id(positionals, 0, 'webhook')}/why?event_id=${id(positionals, 1, 'event')}`
      const why = (await callAdmin(env, 'GET', route)) as { sentences: string[]; next?: string }
      return values.json ? why : [...why.sentences, ...(why.next ? [`Next: ${why.next}`] : [])].join('\n')
    }
  },
  {
    name: 'delivery list',
    args: '<webhook id> [--state failed]',
    about: 'What was sent to a webhook, or waits to be.',
    options: { state: { type: 'string', about: 'waiting, retrying, delivered, failed or held' } },
    run: async ({ positionals, values, env }) => {
      const filter = typeof values.state === 'string' ? `?state=${encodeURIComponent(values.state)}` : ''
      return columns(
        await callAdmin(env, 'GET', `webhooks/${id(positionals, 0, 'webhook')}/deliveries${filter}`),
        ...['id', 'event_id', 'kind', 'created_at', 'state', 'attempts', 'status', 'error', 'next_attempt_at']
      )
    }
  },
  {
    name: 'delivery show',
    args: '<delivery id>',
    about: 'A delivery with its attempts, what was sent and what was answered.',
    run: async ({ positionals, values, env }) => {
      const delivery = await callAdmin(env, 'GET', `deliveries/${id(positionals, 0, 'delivery')}`)
      return values.json ? delivery : JSON.stringify(delivery, null, 2)
    }
  },
  {
    name: 'delivery resend',
    args: '<delivery id>',
    about: 'Send a delivery once more.',
    run: ({ positionals, env }) => callAdmin(env, 'POST', `deliveries/${id(positionals, 0, 'delivery')}/resend`)
  },
  {
    name: 'replay list',
    about: 'Replay jobs with their progress.',
    run: async ({ env }) =>
      columns(
        await callAdmin(env, 'GET', 'replays'),
        ...['id', 'webhook_id', 'from_date', 'to_date', 'state', 'progress', 'delivered', 'failed']
      )
  }
]
