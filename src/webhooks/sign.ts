/** How a consumer knows that a request is ours: HMAC-SHA256 with the app's consumer secret. See decisions/0020. */
import { createHmac } from 'node:crypto'

const hmac = (secret: string, message: string | Uint8Array) =>
  createHmac('sha256', secret).update(message).digest('base64')

/** `sha256=<base64>` over exactly the bytes sent: the body of a delivery, the query of a CRC, a CRC token. */
export const signature = (secret: string, message: string | Uint8Array) => `sha256=${hmac(secret, message)}`

/** One `v1,<base64>` of the Standard Webhooks scheme, over `id.timestamp.body`. */
export function standardSignature(secret: string, id: string, timestamp: number, body: string | Uint8Array) {
  return `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

export interface SignedHeaders {
  /** The app's consumer secrets, the current one first; during a rotation the previous one follows. */
  secrets: readonly string[]
  /** Name of the header of document 1 (`x-svc-webhooks-signature` unless configured otherwise). */
  signatureHeader: string
  /** The same on every retry and replay of a delivery, so that consumers can drop duplicates by it. */
  id: string
  atMs: number
  body: Uint8Array
}

/**
 * All headers of a delivery. The header of document 1 holds one signature, by the current secret; the Standard Webhooks
 * header has room for one by each secret that is valid.
 */
export function signedHeaders({ secrets, signatureHeader, id, atMs, body }: SignedHeaders): Record<string, string> {
  const current = secrets[0]
  if (current === undefined) throw new Error('An app without a consumer secret cannot sign')
  const timestamp = Math.floor(atMs / 1_000)
  let standard = standardSignature(current, id, timestamp, body)
  for (let i = 1; i < secrets.length; i++) standard += ` ${standardSignature(secrets[i]!, id, timestamp, body)}`
  return {
    // Without a charset: widely used consumers compare this header for equality.
    'content-type': 'application/json',
    [signatureHeader]: signature(current, body),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard
  }
}
