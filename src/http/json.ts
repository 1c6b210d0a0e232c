/** JSON as requests carry it: strict, bounded, exact. What JSON.parse would quietly repair or lose is refused here. */
import { badRequest } from '../errors.ts'

const DEPTH_MAX = 50
const utf8 = new TextDecoder('utf-8', { fatal: true })

const malformed = (why: string) => badRequest('MALFORMED_JSON', why)

/** Bytes → text; refuses what is not UTF-8 and what PostgreSQL could not store. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The request body is not valid UTF-8.')
  }
}

/**
 * Integers beyond 2^53 arrive as BigInt, so that money stays exact. Refused: duplicate keys (which one was meant?),
 * `__proto__`, null characters, nesting deeper than 50.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes)
  let value: unknown
  try {
    // The reviver is slow and rarely needed: only long runs of digits can lose precision.
    value = /\d{16}/.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
  } catch (error) {
    throw malformed(
      `The request body is not valid JSON: ${(error as Error).message.replace(/\s+/g, ' ').slice(0, 200)}`
    )
  }
  refuseOddities(text)
  return value
}

function exactInteger(this: unknown, _key: string, value: unknown, context?: { source?: string }) {
  if (
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    context?.source &&
    /^-?\d{1,40}$/.test(context.source)
  ) {
    return BigInt(context.source)
  }
  return value
}

/** Walks text that is known to be valid JSON, so it needs to look only at strings and brackets. */
function refuseOddities(text: string) {
  const keys: (Set<string> | null)[] = []
  let expectKey = false
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: {
        const start = i++
        while (text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1
        const raw = text.slice(start, i + 1)
        if (raw.includes('\\u0000')) {
          if ((JSON.parse(raw) as string).includes('\0')) throw malformed('The request body contains a null character.')
        }
        const open = keys.at(-1)
        if (expectKey && open) {
          const key = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
          if (key === '__proto__') throw malformed('The key "__proto__" is not allowed.')
          if (open.has(key)) throw malformed(`The key "${key.slice(0, 80)}" occurs more than once in one object.`)
          open.add(key)
          expectKey = false
        }
        break
      }
      case 0x7b:
        keys.push(new Set())
        expectKey = true
        if (keys.length > DEPTH_MAX) throw malformed(`The request body is nested deeper than ${DEPTH_MAX} levels.`)
        break
      case 0x5b:
        keys.push(null)
        expectKey = false
        if (keys.length > DEPTH_MAX) throw malformed(`The request body is nested deeper than ${DEPTH_MAX} levels.`)
        break
      case 0x7d:
      case 0x5d:
        keys.pop()
        expectKey = false
        break
      case 0x2c:
        expectKey = keys.at(-1) !== null
        break
    }
  }
}

type RawJson = typeof JSON & { rawJSON(text: string): unknown }

/** BigInt as a JSON number, for places that are stringified without a schema. */
export const exactNumber = (value: bigint) => (JSON as RawJson).rawJSON(value.toString())

/** Makes what parseJson gave fit for JSON.stringify, digit by digit. The same value if it holds no BigInt. */
export function stringifiable<T>(value: T): T {
  if (typeof value === 'bigint') return exactNumber(value) as T
  if (value === null || typeof value !== 'object') return value
  let copy: Record<string, unknown> | unknown[] | undefined
  for (const [key, child] of Object.entries(value)) {
    const fit = stringifiable(child)
    if (fit === child) continue
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    ;(copy as Record<string, unknown>)[key] = fit
  }
  return (copy ?? value) as T
}

/** JSON of our own making, read so that it can be stringified again without losing a digit. */
export const readStored = <T = unknown>(text: string): T =>
  // Most long runs of digits are ids in quotes, which need no care.
  /[[:,\s-]\d{16}/.test(text)
    ? JSON.parse(text, function (this: unknown, key, value, context?: { source?: string }) {
        return stringifiable(exactInteger.call(this, key, value, context))
      })
    : JSON.parse(text)

/** `application/x-www-form-urlencoded` or a query string, as ordered pairs; `+` is a space. */
export function parsePairs(text: string): [string, string][] {
  if (text === '') return []
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [decodePart(part), ''] : [decodePart(part.slice(0, at)), decodePart(part.slice(at + 1))]
    })
}

function decodePart(text: string) {
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badRequest('ILLEGAL_CHARACTERS', `"${text.slice(0, 80)}" is not valid percent-encoded UTF-8.`)
  }
  if (decoded.includes('\0')) throw badRequest('ILLEGAL_CHARACTERS', 'A parameter contains a null character.')
  return decoded
}
