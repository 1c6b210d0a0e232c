/** Opens one connection: vetted address, TCP, TLS with the name's certificate. The only place that makes sockets. */
import net from 'node:net'
import tls from 'node:tls'
import { EgressError, type Phase, type Timings } from './failures.ts'
import type { Target } from './targets.ts'
import type { Vetted, Vetting } from './vetting.ts'

/** Where an attempt is, for its deadline and its record. */
export interface Progress {
  phase: Phase
  readonly timings: Timings
}

/** Rejects with what went wrong while `progress.phase` still says where; an abort destroys the socket. */
export type Connect = (target: Target, progress: Progress, signal: AbortSignal) => Promise<net.Socket>

interface Options {
  vetting: Vetting
  extraCa?: string
  monotonicNow: () => number
}

/** `signal` only ends the waiting: a lookup is shared with others and ends by itself. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

export function createConnect({ vetting, extraCa, monotonicNow }: Options): Connect {
  const ca = extraCa ? [...tls.getCACertificates('default'), extraCa] : undefined
  const publicContext = tls.createSecureContext({ ca, minVersion: 'TLSv1.2' })
  const contextFor = (only: string | undefined) =>
    only === undefined ? publicContext : tls.createSecureContext({ ca: [only], minVersion: 'TLSv1.2' })

  function openSocket({ host, port, secure }: Target, vetted: Vetted): net.Socket {
    const { addresses } = vetted
    const options: net.TcpNetConnectOpts = {
      host,
      port: vetted.port ?? port,
      noDelay: true,
      keepAlive: true,
      autoSelectFamily: true,
      // Never a lookup of Node's own: the addresses are the vetted ones and no others.
      lookup: (_, { all }, callback) => {
        if (all) callback(null, addresses)
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      }
    }
    if (!secure) return net.connect(options)
    // A literal address has no server name; its certificate is checked against `host`.
    const servername = net.isIP(host) ? '' : host.replace(/\.$/, '')
    const secureContext = contextFor(vetted.ca)
    return tls.connect({ ...options, servername, secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
  }

  return async (target, progress, signal) => {
    const { timings } = progress
    let mark = monotonicNow()
    const lap = () => {
      const before = mark
      mark = monotonicNow()
      return mark - before
    }

    progress.phase = 'dns'
    const vetted = await unlessAborted(vetting.vet(target.host), signal)
    timings.dns = lap()
    if (vetted.ca !== undefined && !target.secure)
      throw new EgressError('EGRESS_REFUSED_URL', `${target.host} is reached by https only`)
    const permits = (address: string) =>
      vetted.ca === undefined ? vetting.permits(address) : address === vetted.addresses[0]!.address

    progress.phase = 'connect'
    const socket = openSocket(target, vetted)
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        socket.on('error', reject)
        socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
        socket.once('connect', () => {
          timings.connect = lap()
          if (!permits(socket.remoteAddress ?? '')) {
            return reject(
              new EgressError('EGRESS_REFUSED_ADDRESS', `${target.host} led to an address that is not allowed`)
            )
          }
          if (target.secure) progress.phase = 'tls'
          else resolve()
        })
        socket.once('secureConnect', () => {
          timings.tls = lap()
          resolve()
        })
      })
    } catch (error) {
      socket.destroy()
      throw error
    }
    return socket
  }
}
