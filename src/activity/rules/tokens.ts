/** Text to tokens: split on punctuation, symbols and separators; lower case; diacritics kept. See decisions/0031. */

const SEPARATOR = 1
const WORD = 2
/** Scripts written without spaces: every character is a token, so that a word is found as a phrase of them. */
const SINGLE = 3
const PICTOGRAPH = 4
const REGIONAL = 5
/** Continues a pictograph: skin tones, tag characters. */
const TAIL = 6
/** Changes how a character looks, not which one it is: variation selectors, soft hyphen, zero-width characters. */
const IGNORED = 7
const JOINER = 8
const MARK = 9

const LETTER_OR_NUMBER = /[\p{L}\p{N}]/u
const SPACELESS_SCRIPT = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const NOT_ASCII = /[^\x00-\x7f]/
const IGNORED_CHARACTERS = /\u200d|\u00ad|\u200b|\u200c|[\ufe00-\ufe0f]/g

/** Filled as characters are met: asking a Unicode property costs a thousand times more than an array read. */
const classes = new Uint8Array(0x110000)

function classify(codePoint: number): number {
  if (codePoint === 0x200d) return JOINER
  if (codePoint === 0xad || codePoint === 0x200b || codePoint === 0x200c) return IGNORED
  if (codePoint >= 0xfe00 && codePoint <= 0xfe0f) return IGNORED
  if (codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff) return REGIONAL
  if (codePoint >= 0x1f3fb && codePoint <= 0x1f3ff) return TAIL
  if (codePoint >= 0xe0020 && codePoint <= 0xe007f) return TAIL

  const character = String.fromCodePoint(codePoint)
  if (/\p{M}/u.test(character)) return MARK
  if (LETTER_OR_NUMBER.test(character)) return SPACELESS_SCRIPT.test(character) ? SINGLE : WORD
  // Below U+2190 the pictographs are ©, ®, ‼ and ⁉: punctuation and symbols to a writer, not emoji.
  if (codePoint >= 0x2190 && /\p{Extended_Pictographic}/u.test(character)) return PICTOGRAPH
  return SEPARATOR
}

function classOf(codePoint: number): number {
  const known = classes[codePoint] as number
  if (known !== 0) return known
  const kind = classify(codePoint)
  classes[codePoint] = kind
  return kind
}

export const isEmoji = (character: string) => {
  const kind = classOf(character.codePointAt(0) ?? 0)
  return kind === PICTOGRAPH || kind === REGIONAL || kind === TAIL
}

/** The form in which text is compared everywhere: lower case, composed. */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  return NOT_ASCII.test(lower) ? lower.normalize('NFC') : lower
}

export function tokenize(text: string): string[] {
  const folded = fold(text)
  return NOT_ASCII.test(folded) ? tokenizeUnicode(folded) : tokenizeAscii(folded)
}

function tokenizeAscii(text: string): string[] {
  const tokens: string[] = []
  let start = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
      if (start < 0) start = at
    } else if (start >= 0) {
      tokens.push(text.slice(start, at))
      start = -1
    }
  }
  if (start >= 0) tokens.push(text.slice(start))
  return tokens
}

function tokenizeUnicode(text: string): string[] {
  const tokens: string[] = []
  let start = -1
  /** Class of the character that began the token, and of the last one that counted. */
  let begun = 0
  let last = 0
  let ignored = false

  const end = (at: number) => {
    if (start < 0) return
    const token = text.slice(start, at)
    tokens.push(ignored ? withoutIgnored(token, begun) : token)
    start = -1
    ignored = false
  }

  let at = 0
  while (at < text.length) {
    const codePoint = text.codePointAt(at) as number
    const kind = classOf(codePoint)
    const continues =
      start >= 0 &&
      (kind === MARK ||
        kind === IGNORED ||
        kind === JOINER ||
        (kind === WORD && begun === WORD) ||
        (kind === TAIL && begun === PICTOGRAPH) ||
        (kind === PICTOGRAPH && begun === PICTOGRAPH && last === JOINER) ||
        (kind === REGIONAL && last === REGIONAL))
    if (!continues) {
      end(at)
      if (kind === MARK || kind === TAIL) {
        start = at
        begun = kind === MARK ? WORD : PICTOGRAPH
      } else if (kind !== SEPARATOR && kind !== IGNORED && kind !== JOINER) {
        start = at
        begun = kind
      }
      last = kind
    } else if (kind === IGNORED || kind === JOINER) {
      ignored = true
      if (kind === JOINER) last = JOINER
    } else {
      // A flag is two regional indicators; the third begins the next one.
      last = kind === REGIONAL ? 0 : kind
    }
    at += codePoint > 0xffff ? 2 : 1
  }
  end(at)
  return tokens
}

/** The joiner holds an emoji sequence together and is kept there; in words it is as invisible as the rest. */
const withoutIgnored = (token: string, begun: number) =>
  begun === PICTOGRAPH
    ? token
        .replace(IGNORED_CHARACTERS, (character) => (character === '\u200d' ? character : ''))
        .replace(/\u200d+$/, '')
    : token.replace(IGNORED_CHARACTERS, '')

/** Whether `wanted` occurs in `tokens` as consecutive tokens. */
export function containsPhrase(tokens: readonly string[], wanted: readonly string[]): boolean {
  if (wanted.length === 0) return false
  for (let start = 0; start + wanted.length <= tokens.length; start++) {
    let length = 0
    while (length < wanted.length && tokens[start + length] === wanted[length]) length++
    if (length === wanted.length) return true
  }
  return false
}

/**
 * All words, each at its own place, and moved by at most `distance` against one another: `a x b` needs 1,
 * `b a` needs 2, which is why reverse order reaches two tokens less far.
 */
export function containsWithin<Token>(tokens: ArrayLike<Token>, words: readonly Token[], distance: number): boolean {
  for (let shift = 1 - words.length; shift < tokens.length; shift++) {
    if (fitsFrom(tokens, words, distance, shift)) return true
  }
  return false
}

/** Word i must be found among the tokens shift+i … shift+i+distance; a repeated word takes the next free one. */
function fitsFrom<Token>(tokens: ArrayLike<Token>, words: readonly Token[], distance: number, shift: number): boolean {
  let lastOf: Map<Token, number> | undefined
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as Token
    let at = Math.max(0, shift + index, (lastOf?.get(word) ?? -1) + 1)
    while (at <= shift + index + distance && tokens[at] !== word) at++
    if (at > shift + index + distance) return false
    lastOf ??= new Map()
    lastOf.set(word, at)
  }
  return true
}
