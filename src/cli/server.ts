/** Commands that talk to the running server through its admin API. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { loadConfig } from '../config.ts'
import { badRequest } from '../errors.ts'

interface Server {
  baseUrl: string
  adminToken: string
}

/** Where the server is and the key to it: the environment, else credentials.json of the data directory. */
async function findServer(env: NodeJS.ProcessEnv): Promise<Server> {
  const config = loadConfig(env)
  const file = path.join(config.HERALD_DATA_DIR, 'credentials.json')
  const saved = (await readFile(file, 'utf8').then(JSON.parse, () => ({}))) as {
    base_url?: string
    admin_token?: string
  }
  const adminToken = config.HERALD_ADMIN_TOKEN || saved.admin_token
  if (!adminToken)
    throw badRequest(
      'NO_TOKEN',
      `There is no admin token: set HERALD_ADMIN_TOKEN, or start Herald once so that it writes ${file}`
    )
  return {
    baseUrl: config.HERALD_PUBLIC_URL || saved.base_url || `http://${config.HERALD_HOST}:${config.HERALD_PORT}`,
    adminToken
  }
}

async function call(
  { baseUrl, adminToken }: Server,
  method: string,
  route: string,
  body?: string,
  type = 'application/json'
) {
  const response = await fetch(`${baseUrl}/admin/${route}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, ...(body === undefined ? {} : { 'content-type': type }) },
    body
  }).catch(() => {
    throw badRequest('NOT_RUNNING', `Herald does not answer at ${baseUrl}; start it with npm start`)
  })
  const answer = (await response.json()) as { data?: unknown; detail?: string; errors?: { message: string }[] }
  if (!response.ok)
    throw badRequest(
      'REFUSED',
      answer.errors?.map(({ message }) => message).join('; ') ??
        answer.detail ??
        `the server answered ${response.status}`
    )
  return answer.data ?? answer
}

/** Any call of the admin API of the running server; its data. */
export const callAdmin = async (env: NodeJS.ProcessEnv, method: 'GET' | 'POST', route: string) =>
  call(await findServer(env), method, route)

export async function callServer(env: NodeJS.ProcessEnv, what: 'events' | 'clock', ...args: string[]) {
  const server = await findServer(env)
  if (what === 'clock') {
    const [verb, value] = args
    if (verb === undefined) return call(server, 'GET', 'clock')
    if ((verb !== 'advance' && verb !== 'set') || value === undefined)
      throw badRequest('USAGE', 'Use: herald clock [advance 28h | set 2026-01-15T12:00:00Z]')
    return call(server, 'POST', 'clock', JSON.stringify(verb === 'advance' ? { advance: value } : { now: value }))
  }
  const source = args[0] === '-' ? await text(process.stdin) : await readFile(args[0]!, 'utf8')
  return call(server, 'POST', 'events', ...eventsBody(source))
}

/** One event, an array or {"events": […]} is sent as JSON; lines of JSON as NDJSON. */
function eventsBody(source: string): [string, string] {
  try {
    const parsed = JSON.parse(source) as unknown
    const events = Array.isArray(parsed) ? parsed : ((parsed as { events?: unknown[] }).events ?? [parsed])
    return [JSON.stringify({ events }), 'application/json']
  } catch {
    return [source, 'application/x-ndjson']
  }
}
