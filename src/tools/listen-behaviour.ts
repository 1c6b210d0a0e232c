/** How the receiver answers: well, or as consumers do on a bad day. */
import { parseDuration } from '../config.ts'
import { badRequest } from '../errors.ts'

export type Behaviour =
  | { kind: 'ok' }
  | { kind: 'slow'; ms: number }
  | { kind: 'fail'; status: number }
  | { kind: 'redirect' }
  | { kind: 'lie' }
  | { kind: 'stall' }

export const SLOW_MS = 5_000
export const FAIL_STATUS = 500

export const describeBehaviour = (behaviour: Behaviour): string =>
  ({
    ok: 'answers well',
    slow: `answers after ${'ms' in behaviour ? behaviour.ms / 1_000 : 0} s`,
    fail: `answers ${'status' in behaviour ? behaviour.status : ''}`,
    redirect: 'answers with a redirect',
    lie: 'answers CRCs with a wrong token',
    stall: 'takes requests and never answers'
  })[behaviour.kind]

/** While it runs, at a terminal. */
export const KEYS: readonly { key: string; what: string; behaviour?: Behaviour }[] = [
  { key: 'o', what: 'ok', behaviour: { kind: 'ok' } },
  { key: 's', what: 'slow', behaviour: { kind: 'slow', ms: SLOW_MS } },
  { key: 'f', what: 'fail', behaviour: { kind: 'fail', status: FAIL_STATUS } },
  { key: 'r', what: 'redirect', behaviour: { kind: 'redirect' } },
  { key: 'l', what: 'lie', behaviour: { kind: 'lie' } },
  { key: 't', what: 'stall', behaviour: { kind: 'stall' } },
  { key: 'q', what: 'quit' }
]

type Values = Record<string, string | boolean | undefined>

/** At most one of the switches of the command line. */
export function behaviourOf({ slow, fail, redirect, lie, stall }: Values): Behaviour {
  const given: Behaviour[] = []
  if (typeof slow === 'string') {
    const ms = parseDuration(slow)
    if (ms === undefined) throw badRequest('SLOW', `--slow must be a duration such as 5s, not "${slow}"`)
    given.push({ kind: 'slow', ms })
  }
  if (typeof fail === 'string') {
    if (!/^[2-5]\d\d$/.test(fail)) throw badRequest('FAIL', `--fail must be a status such as 500, not "${fail}"`)
    given.push({ kind: 'fail', status: Number(fail) })
  }
  if (redirect) given.push({ kind: 'redirect' })
  if (lie) given.push({ kind: 'lie' })
  if (stall) given.push({ kind: 'stall' })
  if (given.length > 1)
    throw badRequest('BEHAVIOUR', 'Only one of --slow, --fail, --redirect, --lie and --stall at a time')
  return given[0] ?? { kind: 'ok' }
}
