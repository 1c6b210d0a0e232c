/** The published description: one OpenAPI 3.1 document for both listeners, made from the route schemas, and a page to read it. */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, FastifyReply } from 'fastify'
import Fastify from 'fastify'

type Json = Record<string, unknown>
export interface OpenApiDocument extends Json {
  paths: Record<string, Record<string, Json>>
}

const bearer = (description: string) => ({ type: 'http' as const, scheme: 'bearer', description })

export const openApiInfo: FastifyDynamicSwaggerOptions['openapi'] = {
  openapi: '3.1.0',
  info: {
    title: 'Herald',
    version: '2.166',
    description:
      'Webhooks, activity and streams under /2; catalogs and campaigns under /12; the operator under /admin.',
    license: { name: 'MIT', identifier: 'MIT' }
  },
  components: {
    securitySchemes: {
      appOnly: bearer('OAuth 2.0 app-only bearer token'),
      userToken: bearer('OAuth 2.0 user token'),
      adminToken: bearer('Admin token'),
      oauth1: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'OAuth 1.0a signature (RFC 5849)' }
    }
  }
}

const text = { type: 'string' }
const list = (items: Json) => ({ type: 'array', items })

/** What every failure looks like, by scope. */
export const PROBLEM_SCHEMA: Json = {
  type: 'object',
  required: ['type', 'title'],
  properties: {
    type: { type: 'string', description: '`about:blank` or a URI that ends in a slug.' },
    title: text,
    detail: text,
    status: { type: 'integer' },
    errors: list({
      type: 'object',
      required: ['message'],
      properties: { message: text, parameters: { type: 'object', additionalProperties: list(text) } }
    })
  }
}
const ADS_ERROR: Json = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: text, message: text, parameter: text, attribute: text, details: text, value: text }
}
export const ADS_ERRORS_SCHEMA: Json = {
  type: 'object',
  required: ['request'],
  properties: { errors: list(ADS_ERROR), operation_errors: list(list(ADS_ERROR)), request: {} }
}
const FAILURE = {
  problem: {
    description: 'A problem object (RFC 7807).',
    content: { 'application/problem+json': { schema: PROBLEM_SCHEMA } }
  },
  ads: { description: 'All problems of the request.', content: { 'application/json': { schema: ADS_ERRORS_SCHEMA } } }
}

/** JSON Schema 2020-12 has no `nullable`; the serializer has no other word for it. */
export function withoutNullable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNullable)
  if (node === null || typeof node !== 'object') return node
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutNullable(value)])
  ) as Json
  if (!nullable) return nullable === undefined ? rest : { ...rest, nullable }
  if (Array.isArray(rest.enum)) rest.enum = [...rest.enum, null]
  return typeof rest.type === 'string' ? { ...rest, type: [rest.type, 'null'] } : { anyOf: [rest, { type: 'null' }] }
}

/** Both listeners in one document; what exists only on the sandbox listener carries its own server. */
export function describe(main: FastifyInstance, sandbox: FastifyInstance): OpenApiDocument {
  const document = withoutNullable(main.swagger()) as OpenApiDocument
  const sandboxDocument = withoutNullable(sandbox.swagger()) as OpenApiDocument
  for (const [path, operations] of Object.entries(sandboxDocument.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      document.paths[path] ??= {}
      document.paths[path][method] ??= {
        ...operation,
        servers: [{ url: '/', description: 'The sandbox listener only' }]
      }
    }
  }
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const operation of Object.values(operations)) {
      operation.responses = {
        ...(operation.responses as Json),
        default: path.startsWith('/12') ? FAILURE.ads : FAILURE.problem
      }
      operation.security ??= path.startsWith('/admin')
        ? [{ adminToken: [] }]
        : path.startsWith('/12')
          ? [{ oauth1: [] }, { userToken: [] }]
          : path.startsWith('/2')
            ? [{ appOnly: [] }, { userToken: [] }, { oauth1: [] }]
            : []
    }
  }
  return document
}

export function documentation(main: FastifyInstance, sandbox: FastifyInstance) {
  let document: OpenApiDocument | undefined
  const serve = async () => {
    document ??= describe(main, sandbox)
    return document
  }
  const options = { schema: { summary: 'This description.', tags: ['operations'], security: [] } }
  main.get('/openapi.json', options, serve)
  main.get('/2/openapi.json', options, serve)

  // The reference page carries megabytes of script: it is loaded when somebody opens it, not at every start.
  let page: Promise<FastifyInstance> | undefined
  const reference = () => {
    page ??= import('@scalar/fastify-api-reference').then(async ({ default: scalar }) => {
      const app = Fastify()
      await app.register(scalar, {
        routePrefix: '/docs',
        configuration: { url: '/openapi.json', withDefaultFonts: false, telemetry: false } as never
      })
      return app
    })
    return page
  }
  const hidden = { schema: { hide: true } }
  // The page names its script relative to /docs/.
  main.get('/docs', { ...hidden, exposeHeadRoute: false }, async (req, reply) => {
    if (!req.url.startsWith('/docs/')) return reply.redirect('/docs/')
    return sendReference(reply, '/docs/')
  })
  main.get('/docs/*', { ...hidden, exposeHeadRoute: false }, async (req, reply) => sendReference(reply, req.url))
  const sendReference = async (reply: FastifyReply, url: string) => {
    const answer = await (await reference()).inject({ method: 'GET', url })
    const type = String(answer.headers['content-type'] ?? 'text/html')
    return reply
      .code(answer.statusCode)
      .type(type)
      .header('cache-control', 'public, max-age=3600')
      .send(answer.rawPayload)
  }
}
