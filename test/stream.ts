/** A client of a stream over a real socket: reads lines as they come, or stops reading. */
import http from 'node:http'
import type { Cleanup } from './database.ts'

export interface StreamClient {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Everything that came, empty lines included. */
  readonly lines: string[]
  /** The objects that came so far. */
  readonly items: Record<string, unknown>[]
  /** Resolves when so many objects have come. */
  received(count: number, timeoutMs?: number): Promise<Record<string, unknown>[]>
  /** Resolves when so many lines, empty or not, have come. */
  receivedLines(count: number, timeoutMs?: number): Promise<string[]>
  /** Resolves when the server has ended the stream. */
  ended(timeoutMs?: number): Promise<void>
  pause(): void
  resume(): void
  close(): void
}

/** Once the headers have arrived. Any other status than 200 is read to its end; the body is the only line. */
export async function openStream(t: Cleanup, url: string, headers: Record<string, string>): Promise<StreamClient> {
  const request = http.get(url, { headers, agent: false })
  t.after(async () => void request.destroy())
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  request.on('error', () => {})
  response.on('error', () => {})
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const check of waiting) check()
  }
  const items: Record<string, unknown>[] = []
  const take = (parts: string[]) => {
    for (const part of parts) {
      lines.push(part)
      if (part !== '') items.push(JSON.parse(part))
    }
  }
  let rest = ''
  let over = false
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    const parts = (rest + text).split('\r\n')
    rest = parts.pop() as string
    take(parts)
    wake()
  })
  response.once('close', () => {
    if (rest !== '') take([rest])
    over = true
    wake()
  })

  function until(isSo: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!isSo() && !over) return
        waiting.delete(check)
        clearTimeout(timer)
        if (isSo()) resolve()
        else reject(new Error(`the stream ended before ${what}: ${lines.join(' | ').slice(0, 2_000)}`))
      }
      const timer = setTimeout(() => {
        waiting.delete(check)
        reject(
          new Error(
            `no ${what} within ${timeoutMs} ms; got ${lines.length} lines: ${lines.join(' | ').slice(0, 2_000)}`
          )
        )
      }, timeoutMs)
      waiting.add(check)
      check()
    })
  }

  const client: StreamClient = {
    status: response.statusCode as number,
    headers: response.headers,
    lines,
    items,
    async received(count, timeoutMs) {
      await until(() => items.length >= count, `${count} objects`, timeoutMs)
      return items
    },
    async receivedLines(count, timeoutMs) {
      await until(() => lines.length >= count, `${count} lines`, timeoutMs)
      return lines
    },
    ended: (timeoutMs) => until(() => over, 'end', timeoutMs),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void request.destroy()
  }
  if (client.status !== 200) await client.ended()
  return client
}
