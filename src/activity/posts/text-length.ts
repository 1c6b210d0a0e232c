/** How long a text is to the limit of a post: a link counts 23, most letters 1, everything wider 2. */

const LINK = /https?:\/\/[^\s"<>]+/gi
const LINK_LENGTH = 23
/** Code points that count 1. */
const NARROW = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247]
] as const
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

export function weightedLength(text: string): number {
  let length = 0
  const rest = text.normalize('NFC').replace(LINK, () => {
    length += LINK_LENGTH
    return ''
  })
  // An emoji of several code points is one thing to whoever writes it.
  for (const { segment } of characters.segment(rest))
    length += EMOJI.test(segment) && segment.length > 1 ? 2 : weightOf(segment)
  return length
}

function weightOf(segment: string) {
  let weight = 0
  for (const character of segment) {
    const code = character.codePointAt(0)!
    weight += NARROW.some(([first, last]) => code >= first && code <= last) ? 1 : 2
  }
  return weight
}
