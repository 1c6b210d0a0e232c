/** The guard: every address of a name is judged before a connection, and only judged addresses are handed out. */
import { isIP } from 'node:net'
import { isAllowed, judgeAddress } from './addresses.ts'
import { EgressError } from './failures.ts'
import type { Lookup } from './lookup.ts'

export interface ConnectTo {
  address: string
  port?: number
}

export interface Vetted {
  addresses: { address: string; family: 4 | 6 }[]
  /** The port to connect to instead of the URL's, when the operator mapped the name. */
  port?: number
  /** The only authority to trust, for a receiver on this machine. */
  ca?: string
}

/** A receiver that the operator runs on this machine for development: reached by its name, at its port, by its certificate. */
export interface LocalReceiver {
  address: string
  port: number
  ca: string
}

/** undefined for every name but the receiver's; null when that is not running. */
export type FindReceiver = (host: string) => Promise<LocalReceiver | null | undefined>

export interface Vetting {
  /** Rejects with an EgressError when the name has no addresses or one of them is forbidden. */
  vet(host: string): Promise<Vetted>
  /** Whether a connection that has been made ended where it may. */
  permits(address: string): boolean
}

interface Options {
  allowPrivate: boolean
  resolve: ReadonlyMap<string, ConnectTo>
  findReceiver?: FindReceiver
  lookup: Lookup
  /** How long an answer that passed may be used without another lookup. */
  cacheMs: number
  monotonicNow: () => number
}

const CACHED_MAX = 10_000

const withoutDot = (host: string) => host.toLowerCase().replace(/\.$/, '')

export function createVetting(options: Options): Vetting {
  const { allowPrivate, resolve, findReceiver, lookup, cacheMs, monotonicNow } = options
  const mapping = new Map([...resolve].map(([host, to]) => [withoutDot(host), to]))
  for (const [host, { address }] of mapping) {
    if (!isIP(address)) throw new Error(`HERALD_EGRESS_RESOLVE: ${host} must be mapped to an IP address`)
  }
  const cache = new Map<string, { vetted: Vetted; until: number }>()
  const pending = new Map<string, Promise<Vetted>>()

  function judgeAll(host: string, addresses: string[], port?: number): Vetted {
    for (const address of addresses) {
      const judgement = judgeAddress(address)
      if (isAllowed(judgement, allowPrivate)) continue
      const name = host === address ? host : `${host} leads to ${address}, which`
      const hint = judgement.verdict === 'private' ? ' (HERALD_EGRESS_ALLOW_PRIVATE=1 allows it in development)' : ''
      throw new EgressError(
        'EGRESS_REFUSED_ADDRESS',
        `${name} is not a public address but ${judgement.description}${hint}; use a host on the public internet`
      )
    }
    return { addresses: addresses.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 })), port }
  }

  async function lookUpAndJudge(host: string): Promise<Vetted> {
    let addresses: string[]
    try {
      addresses = await lookup(host)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException | null)?.code ?? 'no answer'
      throw new EgressError('DNS', `The name ${host} could not be resolved (${code}); check its DNS records`, {
        cause: error
      })
    }
    if (addresses.length === 0) throw new EgressError('DNS', `The name ${host} has no addresses; check its DNS records`)
    const vetted = judgeAll(host, addresses)
    if (cache.size >= CACHED_MAX) cache.clear()
    cache.set(host, { vetted, until: monotonicNow() + cacheMs })
    return vetted
  }

  return {
    async vet(host) {
      const mapped = mapping.get(withoutDot(host))
      if (mapped) return judgeAll(host, [mapped.address], mapped.port)
      if (isIP(host)) return judgeAll(host, [host])
      const receiver = await findReceiver?.(withoutDot(host))
      if (receiver === null)
        throw new EgressError('DNS', `Nothing listens at ${host}; start the receiver with npx herald listen`)
      // Not judged: nothing but the receiver can show a certificate of its own authority.
      if (receiver) {
        const { address, port, ca } = receiver
        return { addresses: [{ address, family: isIP(address) === 6 ? 6 : 4 }], port, ca }
      }
      const cached = cache.get(host)
      if (cached && cached.until > monotonicNow()) return cached.vetted
      // Many requests for one name at once share one lookup.
      let lookingUp = pending.get(host)
      if (!lookingUp) {
        lookingUp = lookUpAndJudge(host).finally(() => pending.delete(host))
        pending.set(host, lookingUp)
      }
      return lookingUp
    },
    permits: (address) => isAllowed(judgeAddress(address), allowPrivate)
  }
}
