/** Every answer of every test is held against the published description: a shape that drifts fails the test that saw it. */
import type { FastifyRequest } from 'fastify'
import { Compile } from 'typebox/compile'
import { ADS_ERRORS_SCHEMA, PROBLEM_SCHEMA, withoutNullable } from '../src/http/openapi.ts'
import { secretIn } from './secrets.ts'

const compiled = new WeakMap<object, ReturnType<typeof Compile>>()

function validator(schema: object) {
  let check = compiled.get(schema)
  if (!check) {
    check = Compile(withoutNullable(schema) as never)
    compiled.set(schema, check)
  }
  return check
}

/** Answers that make a secret show it, this once. */
const SHOWS_SECRETS = /^\/(admin\/(apps|tokens)|oauth2?\/|2\/oauth2|1\.1\/oauth|i\/oauth2)/

export function checkAnswer(req: FastifyRequest, status: number, payload: unknown) {
  if (typeof payload === 'string' && !SHOWS_SECRETS.test(req.url) && secretIn(payload) !== undefined) {
    throw new Error(`${req.method} ${req.url} answered ${status} with a secret in it`)
  }
  // OAuth has error shapes of its own (RFC 6749).
  if (typeof payload !== 'string' || !/^\/(2|12|admin)\b/.test(req.url) || req.url.startsWith('/2/oauth2')) return
  if (status === 204) throw new Error(`${req.method} ${req.url} answered 204; clients parse every answer`)
  const responses = (req.routeOptions.schema?.response ?? {}) as Record<string, object>
  const failure = req.url.startsWith('/12') ? ADS_ERRORS_SCHEMA : PROBLEM_SCHEMA
  const schema = status >= 400 ? failure : responses[status]
  if (!schema) {
    if (Object.keys(responses).length > 0)
      throw new Error(`${req.method} ${req.url} answered ${status}, which its description does not know`)
    return
  }
  const body = JSON.parse(payload) as unknown
  const check = validator(schema)
  if (!check.Check(body)) {
    const faults = check
      .Errors(body)
      .slice(0, 5)
      .map((error) => `${error.instancePath || '/'} ${error.message}`)
    throw new Error(
      `${req.method} ${req.url} answered ${status} against its description: ${faults.join('; ')} in ${payload.slice(0, 500)}`
    )
  }
}
