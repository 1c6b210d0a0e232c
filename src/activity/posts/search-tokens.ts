/** Where a search goes on: a time, an id and two check characters, all base 36. */

export interface Position {
  created_at: string
  /** Empty: before everything of that time. */
  id: string
}

const TIME_CHARACTERS = 9

/** `list` enters the check, so that a token of one list is garbage to another. */
function checkOf(text: string, list: string) {
  let sum = 7
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 1_000_003
  for (let at = 0; at < list.length; at++) sum = (sum * 31 + list.charCodeAt(at)) % 1_000_003
  return (sum % 1296).toString(36).padStart(2, '0')
}

export function encodePosition({ created_at, id }: Position, list: string): string {
  const text = Date.parse(created_at).toString(36).padStart(TIME_CHARACTERS, '0') + id
  return text + checkOf(text, list)
}

/** undefined when the token is not one of ours. */
export function decodePosition(token: string, list: string): Position | undefined {
  const [, time, id, check] = /^([0-9a-z]{9})([0-9]{0,19})([0-9a-z]{2})$/.exec(token) ?? []
  if (time === undefined || id === undefined || checkOf(time + id, list) !== check) return undefined
  return { created_at: new Date(Number.parseInt(time, 36)).toISOString(), id }
}
