/** A whole consumer. Put it behind a proxy that speaks https, or try the same with `npx herald listen`. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { answerCrc, isSigned } from './verify.ts'

const secret = process.env.CONSUMER_SECRET ?? ''
const seen = new Set<string>()

async function handle(req: IncomingMessage, res: ServerResponse) {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  const raw = Buffer.concat(chunks)
  const crcToken = new URL(req.url ?? '/', 'http://localhost').searchParams.get('crc_token')
  if (req.method === 'GET' && crcToken) {
    try {
      const response_token = answerCrc(secret, crcToken)
      return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ response_token }))
    } catch {
      return res.writeHead(400).end()
    }
  }
  if (!isSigned(secret, String(req.headers['x-svc-webhooks-signature']), raw)) return res.writeHead(401).end()
  // Say 200 first and work afterwards: there are ten seconds for all of it.
  res.writeHead(200).end()
  const id = String(req.headers['webhook-id'])
  if (seen.has(id)) return
  seen.add(id)
  console.log(JSON.parse(raw.toString()))
}

export const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()))

if (import.meta.main) server.listen(Number(process.env.PORT ?? 3000))
