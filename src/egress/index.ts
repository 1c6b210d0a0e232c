/** The one way out: deliveries, challenge-response checks, feeds and images all leave through here, guarded. */
import { createConnect } from './connect.ts'
import { EgressError, type Failure, type FailureClass, type FailureCode, stopping } from './failures.ts'
import { createLookup, type Lookup } from './lookup.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { type Outcome, Send, type SendRequest } from './send.ts'
import { Stream, type StreamOutcome, type StreamRequest } from './stream.ts'
import { parseTarget, type Scheme, type Target } from './targets.ts'
import { type ConnectTo, createVetting, type FindReceiver } from './vetting.ts'

export { EgressError, type Failure, type FailureClass, type FailureCode, type Phase, type Timings } from './failures.ts'
export type { Lookup } from './lookup.ts'
export type { Outcome, SendRequest, SendResponse } from './send.ts'
export { gunzipBounded, type StreamOutcome, type StreamRequest, type StreamResponse } from './stream.ts'
export type { Scheme } from './targets.ts'
export type { FindReceiver, LocalReceiver } from './vetting.ts'

export interface EgressOptions {
  /** HERALD_EGRESS_ALLOW_PRIVATE: targets may be private and loopback addresses. */
  allowPrivate: boolean
  /** HERALD_EGRESS_RESOLVE: host name to address and port, as curl's --connect-to. The addresses are judged as well. */
  resolve: ReadonlyMap<string, ConnectTo>
  /** PEM of certificate authorities to trust beside the usual ones. */
  extraCa?: string
  /** HERALD_DEV_LISTENER: the receiver of `herald listen`, if this server may reach it. */
  findReceiver?: FindReceiver
  connectionsPerTargetMax: number
  /** Where names are looked up; the system's name servers by default. */
  lookup?: Lookup
  /** How long a name's vetted addresses are used without another lookup. */
  lookupCacheMs?: number
  connectionAgeMaxMs?: number
  /** Milliseconds that never go back; for the ages of connections and lookups, not for any rule. */
  monotonicNow?: () => number
}

export type CheckResult =
  | { ok: true; url: string; addresses: string[] }
  | { ok: false; class: FailureClass; code: FailureCode; message: string }

/** What a thread needs to make an egress like this one. */
export type EgressSettings = Pick<EgressOptions, 'allowPrivate' | 'resolve' | 'extraCa' | 'connectionsPerTargetMax'>

export interface Egress {
  readonly settings: EgressSettings
  /** Never rejects: what goes wrong on the way is an outcome. */
  send(request: SendRequest): Promise<Outcome>
  /** Never rejects; after the headers, problems are errors of the body. */
  stream(request: StreamRequest): Promise<StreamOutcome>
  /** Whether a URL may be a target, without connecting to it. Passing says nothing about later: every connection is vetted. */
  check(url: string, options?: { schemes?: readonly Scheme[]; deadlineMs?: number }): Promise<CheckResult>
  /** Ends all connections; exchanges under way fail as ABORTED. */
  close(): Promise<void>
}

const LOOKUP_CACHE_MS = 5_000
const CONNECTION_AGE_MAX_MS = 60_000
const CHECK_DEADLINE_MS = 5_000

const NOTHING_DONE = { queue: 0, dns: 0, connect: 0, tls: 0, firstByte: 0, total: 0 }

const refusal = ({ class: failureClass, code, message }: EgressError): Failure => ({
  kind: 'failure',
  class: failureClass,
  code,
  message,
  phase: 'url',
  timings: { ...NOTHING_DONE }
})

function parse(url: string, schemes?: readonly Scheme[]): Target | EgressError {
  try {
    return parseTarget(url, schemes)
  } catch (error) {
    if (error instanceof EgressError) return error
    throw error
  }
}

export function createEgress({
  allowPrivate,
  resolve,
  extraCa,
  findReceiver,
  connectionsPerTargetMax,
  lookup = createLookup(),
  lookupCacheMs = LOOKUP_CACHE_MS,
  connectionAgeMaxMs = CONNECTION_AGE_MAX_MS,
  monotonicNow = () => performance.now()
}: EgressOptions): Egress {
  const vetting = createVetting({ allowPrivate, resolve, findReceiver, lookup, cacheMs: lookupCacheMs, monotonicNow })
  const connect = createConnect({ vetting, extraCa, monotonicNow })
  const poolOptions: PoolOptions = {
    connect,
    connectionsMax: connectionsPerTargetMax,
    connectionAgeMaxMs,
    monotonicNow
  }
  // Apart, so that long downloads never stand in the way of deliveries to the same host.
  const sending = new Map<string, Pool>()
  const streaming = new Map<string, Pool>()
  let closed = false

  function poolFor(pools: Map<string, Pool>, target: Target) {
    let pool = pools.get(target.origin)
    if (!pool) {
      pool = new Pool(target, poolOptions, () => pools.delete(target.origin))
      pools.set(target.origin, pool)
    }
    return pool
  }

  return {
    settings: { allowPrivate, resolve, connectionsPerTargetMax, ...(extraCa === undefined ? {} : { extraCa }) },

    send(request) {
      const target = parse(request.url, request.schemes)
      if (target instanceof EgressError) return Promise.resolve(refusal(target))
      if (closed) return Promise.resolve(refusal(stopping()))
      const headers = { 'accept-encoding': 'identity', ...request.headers }
      return new Promise((resolve) => {
        new Send(target, poolFor(sending, target), { ...request, headers }, monotonicNow, resolve).start()
      })
    },

    stream(request) {
      const target = parse(request.url, request.schemes)
      if (target instanceof EgressError) return Promise.resolve(refusal(target))
      if (closed) return Promise.resolve(refusal(stopping()))
      const headers = { 'accept-encoding': request.decompress ? 'gzip' : 'identity', ...request.headers }
      return new Promise((resolve) => {
        new Stream(target, poolFor(streaming, target), { ...request, headers }, monotonicNow, resolve).start()
      })
    },

    async check(url, { schemes, deadlineMs = CHECK_DEADLINE_MS } = {}) {
      try {
        const target = parseTarget(url, schemes)
        const { addresses } = await withDeadline(vetting.vet(target.host), deadlineMs, target.host)
        return { ok: true, url: new URL(url).href, addresses: addresses.map(({ address }) => address) }
      } catch (error) {
        if (!(error instanceof EgressError)) throw error
        const { class: failureClass, code, message } = error
        return { ok: false, class: failureClass, code, message }
      }
    },

    async close() {
      closed = true
      await Promise.all([...sending.values(), ...streaming.values()].map((pool) => pool.close()))
    }
  }
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number, host: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new EgressError('DNS', `The name ${host} could not be resolved within ${deadlineMs} ms`)
    timer = setTimeout(() => reject(error), deadlineMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
