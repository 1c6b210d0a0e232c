/** Marks a replayed body. Works on the bytes: parsing and printing again would change numbers beyond 2^53. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])
const COMMA = 0x2c
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

interface Member {
  key: string
  /** Of the value, in bytes. */
  from: number
  to: number
}

/** `{"data":…}` gets `"meta":{"replay":true}` beside its data; anything else, such as account activity, stays as it is. */
export function markReplayed(body: Buffer): Buffer {
  const parsed = readMembers(body)
  if (!parsed?.members.some(({ key }) => key === 'data')) return body
  const meta = parsed.members.find(({ key }) => key === 'meta')
  if (!meta) return splice(body, parsed.end, parsed.end, ',"meta":{"replay":true}')
  const inner = body[meta.from] === 0x7b ? readMembers(body.subarray(meta.from, meta.to)) : undefined
  if (!inner) return splice(body, meta.from, meta.to, '{"replay":true}')
  const at = meta.from + inner.end
  return splice(body, at, at, inner.members.length > 0 ? ',"replay":true' : '"replay":true')
}

const splice = (body: Buffer, from: number, to: number, text: string) =>
  Buffer.concat([body.subarray(0, from), Buffer.from(text), body.subarray(to)])

/** The members of a JSON object and where its closing brace is; undefined if it is not one. */
function readMembers(json: Buffer): { members: Member[]; end: number } | undefined {
  let at = skipSpace(json, 0)
  if (json[at] !== 0x7b) return undefined
  const members: Member[] = []
  at = skipSpace(json, at + 1)
  if (json[at] === 0x7d) return { members, end: at }
  while (json[at] === QUOTE) {
    const keyEnd = skipString(json, at)
    const colon = skipSpace(json, keyEnd)
    if (json[colon] !== 0x3a) return undefined
    const from = skipSpace(json, colon + 1)
    const to = skipValue(json, from)
    if (to === from) return undefined
    members.push({ key: JSON.parse(json.toString('utf8', at, keyEnd)), from, to })
    at = skipSpace(json, to)
    if (json[at] === 0x7d) return { members, end: at }
    if (json[at] !== COMMA) return undefined
    at = skipSpace(json, at + 1)
  }
  return undefined
}

function skipSpace(json: Buffer, at: number) {
  while (isSpace(json[at])) at++
  return at
}

/** From an opening quote to behind the closing one. */
function skipString(json: Buffer, at: number) {
  for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
  return at + 1
}

function skipValue(json: Buffer, at: number) {
  let depth = 0
  while (at < json.length) {
    const byte = json[at]!
    if (byte === QUOTE) {
      at = skipString(json, at)
      if (depth === 0) return at
      continue
    }
    if (CLOSE.has(byte)) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (OPEN.has(byte)) {
      depth++
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) {
      return at
    }
    at++
  }
  return at
}
