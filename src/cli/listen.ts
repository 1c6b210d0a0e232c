/** `herald listen`: the receiver at the terminal, and one command to register and subscribe it. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import type { DemoCredentials } from '../demo.ts'
import { badRequest } from '../errors.ts'
import { startReceiver } from '../tools/listen.ts'
import { type Behaviour, behaviourOf, describeBehaviour, KEYS } from '../tools/listen-behaviour.ts'
import { announceListener, LISTEN_HOST, listenCertificate } from '../tools/listen-files.ts'
import { printReceived } from '../tools/listen-print.ts'
import { registerReceiver, subscribeReceiver, type Target } from './listen-register.ts'

export const DEFAULT_PORT = 9443
export const DEFAULT_PATH = '/hook'

type Values = Record<string, string | boolean | undefined>

interface Settings {
  port: number
  path: string
  secret: string
  json: boolean
}

function settingsOf(values: Values, credentials: Partial<DemoCredentials>, file: string): Settings {
  const port = values.port === undefined ? DEFAULT_PORT : Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw badRequest('PORT', '--port must be a number up to 65535')
  const route = typeof values.path === 'string' ? values.path : DEFAULT_PATH
  if (!/^\/[^?#\s]*$/.test(route)) throw badRequest('PATH', '--path must begin with / and have no query')
  const secret = typeof values.secret === 'string' ? values.secret : credentials.app?.consumer_secret
  if (!secret)
    throw badRequest(
      'SECRET',
      `There is no consumer secret: pass it with --secret, or start Herald once so that it writes ${file}`
    )
  return { port, path: route, secret, json: values.json === true }
}

function targetOf(
  values: Values,
  config: Config,
  credentials: Partial<DemoCredentials>,
  url: string,
  caFile: string
): Target {
  const bearer = typeof values.token === 'string' ? values.token : credentials.app?.bearer_token
  if (!bearer) throw badRequest('TOKEN', "There is no app-only token to register with: pass the app's with --token")
  const baseUrl =
    config.HERALD_PUBLIC_URL || credentials.base_url || `http://${config.HERALD_HOST}:${config.HERALD_PORT}`
  const userToken = credentials.user?.access_token
  return { baseUrl, bearer, url, caFile, ...(userToken ? { userToken } : {}) }
}

/** Where the command is run. */
export interface Surroundings {
  print(line: string): void
  say(line: string): void
  colours: boolean
  stopped: Promise<void>
  /** Keys as they are pressed; undefined when nobody sits there. */
  keys?: { on(press: (key: string) => void): () => void }
}

/** Runs until it is told to stop. */
export async function listen(values: Values, env: NodeJS.ProcessEnv, around = terminal(values, env)): Promise<void> {
  const { print, say } = around
  const config = loadConfig(env)
  const dataDir = config.HERALD_DATA_DIR
  const file = path.join(dataDir, 'credentials.json')
  const credentials = (await readFile(file, 'utf8').then(JSON.parse, () => ({}))) as Partial<DemoCredentials>
  const settings = settingsOf(values, credentials, path.relative('.', file))
  const wanted = behaviourOf(values)
  const registers = values.register === true || typeof values.subscribe === 'string'
  const url = `https://${LISTEN_HOST}${settings.path}`
  const certificate = await listenCertificate(dataDir, Date.now())
  const receiver = await startReceiver({
    ...settings,
    certificate,
    signatureHeader: config.HERALD_SIGNATURE_HEADER.toLowerCase(),
    // Registered as one that works; what it was told to do comes after.
    behaviour: registers ? { kind: 'ok' } : wanted,
    now: () => Date.now(),
    received: (request) => print(settings.json ? JSON.stringify(request) : printReceived(request, around.colours))
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw badRequest('PORT', `Port ${settings.port} is in use; choose another with --port`)
  })
  const withdraw = await announceListener(dataDir, receiver.port)
  try {
    say(`Listening at ${url} (127.0.0.1:${receiver.port}); this receiver ${describeBehaviour(wanted)}.`)
    if (registers) {
      const target = targetOf(values, config, credentials, url, path.relative('.', certificate.caFile))
      const { id } = await registerReceiver(target, receiver.port)
      say(`Registered as webhook ${id}.`)
      if (typeof values.subscribe === 'string') say(await subscribeReceiver(target, id, values.subscribe))
      else say(howToSubscribe(target, id))
    } else {
      say('Register it with --register, and say what it should hear of with --subscribe post.create:42.')
    }
    receiver.behaviour = wanted
    const quit = Promise.withResolvers<void>()
    const release = followKeys(receiver, around, quit.resolve)
    await Promise.race([around.stopped, quit.promise])
    release()
  } finally {
    await withdraw()
    await receiver.close()
  }
}

const howToSubscribe = (
  { baseUrl }: Target,
  webhookId: string
) => `Nothing arrives unless something is subscribed. The same command with --subscribe post.create:42 does it, or

  curl -H "Authorization: Bearer $TOKEN" -H 'content-type: application/json' ${baseUrl}/2/activity/subscriptions \\
    -d '{"event_type":"post.create","filter":{"user_id":"42"},"webhook_id":"${webhookId}"}'
`

/** At a terminal, one key changes how it answers. */
function followKeys(receiver: { behaviour: Behaviour }, { keys, say }: Surroundings, quit: () => void) {
  if (!keys) return () => {}
  say(`Keys: ${KEYS.map(({ key, what }) => `${key} ${what}`).join(', ')}.`)
  return keys.on((pressed) => {
    // A raw terminal sends no signals.
    if (pressed === '\u0003') return quit()
    const found = KEYS.find(({ key }) => key === pressed)
    if (!found) return
    if (!found.behaviour) return quit()
    receiver.behaviour = found.behaviour
    say(`From now on it ${describeBehaviour(found.behaviour)}.`)
  })
}

/** The process itself: its output, its signals, and its keyboard if it has one. */
function terminal(values: Values, env: NodeJS.ProcessEnv): Surroundings {
  const { stdin, stdout } = process
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  const keys = {
    on(press: (key: string) => void) {
      const onData = (data: Buffer) => press(data.toString())
      stdin.setRawMode(true)
      stdin.on('data', onData)
      return () => {
        stdin.setRawMode(false)
        stdin.off('data', onData)
        stdin.pause()
      }
    }
  }
  return {
    print: (line) => console.log(line),
    // In JSON every line of the output is an event; what is said beside goes where it does not disturb.
    say: (line) => (values.json === true ? console.error(line) : console.log(line)),
    colours: stdout.isTTY === true && !env.NO_COLOR,
    stopped,
    ...(stdin.isTTY && values.json !== true ? { keys } : {})
  }
}
