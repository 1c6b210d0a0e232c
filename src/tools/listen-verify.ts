/** The consumer's side of CRC and signatures. Written apart from the sender on purpose: each is the other's test. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export type Verdict = 'good' | 'bad' | 'missing'

const hmac = (secret: string, message: Uint8Array | string) =>
  createHmac('sha256', secret).update(message).digest('base64')

const same = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** The answer to a challenge. */
export const crcAnswer = (secret: string, crcToken: string) => `sha256=${hmac(secret, crcToken)}`

/** `sha256=<base64>` over the body of a POST, or over the query of a CRC. */
export function verifySignature(header: string | undefined, secret: string, message: Uint8Array | string): Verdict {
  if (header === undefined) return 'missing'
  return same(header, `sha256=${hmac(secret, message)}`) ? 'good' : 'bad'
}

/** Standard Webhooks: any of the space-separated `v1,<base64>` over `id.timestamp.body`. */
export function verifyStandard(headers: IncomingHttpHeaders, secret: string, body: Uint8Array): Verdict {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name]
  )
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return 'missing'
  const expected = `v1,${hmac(secret, Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]))}`
  return signatures.split(' ').some((each) => same(each, expected)) ? 'good' : 'bad'
}
