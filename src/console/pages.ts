/** Serves the built console: the page at its addresses, files that never change under theirs. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../errors.ts'
import type { Build, ConsoleBuild } from './build.ts'

/** First parts of the addresses that are pages. Everything else outside the APIs stays a 404. */
export const PAGES = ['sign-in', 'apps', 'webhooks', 'deliveries', 'activity', 'inbox', 'catalog', 'ads', 'account']

const WAITING_STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{width:min(40rem,calc(100vw - 3rem))}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8rem}`

const policy = (styles: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join('; ')

const PAGE_HEADERS = {
  'content-security-policy': policy("'self'"),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()'
}

export function pageRoutes(app: FastifyInstance, build: ConsoleBuild) {
  const hidden = { schema: { hide: true } }
  const page = async (req: FastifyRequest, reply: FastifyReply) => {
    const state = await build.current()
    if (state.state === 'ready') {
      reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache', etag: `"${state.build.hash}"` })
      if (req.headers['if-none-match'] === `"${state.build.hash}"`) return reply.code(304).send()
      return sendFile(req, reply, state.build, '/index.html')
    }
    return state.state === 'building'
      ? sendWaiting(
          reply,
          'The console is being built',
          '<p>This takes a few seconds, once. The page reloads by itself.</p>'
        )
      : sendWaiting(
          reply,
          'The console could not be built',
          `<p>The APIs are not affected. <code>npm run console</code> shows why:</p><pre>${escapeHtml(state.why)}</pre>`
        )
  }
  app.get('/', hidden, page)
  for (const name of PAGES) {
    app.get(`/${name}`, hidden, page)
    app.get(`/${name}/*`, hidden, page)
  }
  app.get('/favicon.ico', hidden, async (_req, reply) => reply.redirect('/favicon.svg'))
  const file = async (req: FastifyRequest, reply: FastifyReply) => {
    const state = await build.current()
    const name = req.url.split('?', 1)[0]!
    if (state.state !== 'ready' || !state.build.files.has(name))
      throw notFound('ROUTE_NOT_FOUND', `There is nothing at ${req.method} ${name.slice(0, 200)}.`)
    // Names of assets change with their content.
    const caching = name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600'
    reply.headers({ 'cache-control': caching, 'x-content-type-options': 'nosniff' })
    return sendFile(req, reply, state.build, name)
  }
  app.get('/assets/*', hidden, file)
  app.get('/favicon.svg', hidden, file)
}

async function sendFile(req: FastifyRequest, reply: FastifyReply, { directory, files }: Build, name: string) {
  const { type, encodings } = files.get(name)!
  const accepted = String(req.headers['accept-encoding'] ?? '')
  const encoding = encodings.find((each) => new RegExp(`\\b${each}\\b(?!;q=0(?:\\.0*)?(?:,|$))`).test(accepted))
  reply.header('vary', 'accept-encoding')
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type(type).send(await readFile(path.join(directory, name) + (encoding ? SUFFIX[encoding] : '')))
}

export const SUFFIX = { br: '.br', gzip: '.gz' } as const

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function sendWaiting(reply: FastifyReply, title: string, body: string) {
  return reply
    .code(503)
    .headers({
      ...PAGE_HEADERS,
      'content-security-policy': policy(`'sha256-${hash('sha256', WAITING_STYLE, 'base64')}'`),
      'cache-control': 'no-store',
      'retry-after': '1',
      refresh: '1'
    })
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${WAITING_STYLE}</style><main><h1>${title}</h1>${body}</main></html>`
    )
}
