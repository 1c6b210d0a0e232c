import { createHmac, timingSafeEqual } from 'node:crypto'

const hmac = (secret: string, message: string | Uint8Array) =>
  createHmac('sha256', secret).update(message).digest('base64')

function same(a: string, b: string) {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The `response_token` for a CRC. Never sign anything but a token: the answer is a signature, and could be one of an event. */
export function answerCrc(consumerSecret: string, crcToken: string) {
  if (!/^[A-Za-z0-9+/=_-]{16,128}$/.test(crcToken)) throw new Error('this is not a CRC token')
  return `sha256=${hmac(consumerSecret, crcToken)}`
}

/** `x-svc-webhooks-signature`, over the raw bytes of the body (of a CRC: over the raw query). */
export const isSigned = (consumerSecret: string, header: string | undefined, raw: string | Uint8Array) =>
  header !== undefined && same(header, `sha256=${hmac(consumerSecret, raw)}`)

export interface StandardHeaders {
  'webhook-id'?: string
  'webhook-timestamp'?: string
  'webhook-signature'?: string
}

/** The Standard Webhooks headers, which also say when it was sent: what is older than five minutes is refused. */
export function isSignedStandard(
  consumerSecret: string,
  headers: StandardHeaders,
  raw: Uint8Array,
  nowSeconds = Date.now() / 1000,
  toleranceSeconds = 300
) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (!id || !timestamp || !signatures || !(Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = `v1,${hmac(consumerSecret, Buffer.concat([Buffer.from(`${id}.${timestamp}.`), raw]))}`
  return signatures.split(' ').some((signature) => same(signature, expected))
}
