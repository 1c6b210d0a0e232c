/** Text as a person reads it: length in characters, and whether HTML or a colour code hides in it. */

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** One character may be built of many code points (a family emoji has 11 units), but not of endlessly many. */
const UNITS_PER_CHARACTER_MAX = 16

/** Whether the text has more characters, as a person counts them, than allowed. Cheap unless it really is near the limit. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false
  if (text.length > charactersMax * UNITS_PER_CHARACTER_MAX) return true
  if (codePointsUpTo(text, charactersMax + 1) <= charactersMax) return false
  let count = 0
  for (const _ of graphemes.segment(text)) if (++count > charactersMax) return true
  return false
}

/** There are never more characters than code points. */
function codePointsUpTo(text: string, stop: number): number {
  let count = 0
  for (let i = 0; i < text.length && count < stop; i++) {
    if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00) count++
  }
  return count
}

const HTML_ELEMENTS: ReadonlySet<string> = new Set(
  `a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink blockquote body br button
   canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset
   figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins
   kbd label legend li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol optgroup
   option output p param picture pre progress q rp rt ruby s samp script search section select slot small source span
   strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul
   var video wbr`.split(/\s+/)
)

// Sticky and without nested repetition: each `<` is looked at once, and a look ends at the next `<`.
const TAG_NAME = /<\/?([A-Za-z][A-Za-z0-9]{0,9})(?=[\s/>])/y
const TAG_END = /\s*\/?>/y
const ATTRIBUTES_END = /\s[^<>=]{0,2000}=[^<>]{0,2000}>/y

/** The first HTML tag or comment in the text, or undefined. `a < b`, `<3` and `x <y and y> z` are not HTML. */
export function findHtml(text: string): string | undefined {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (text.startsWith('<!--', at) || /^<!doctype/i.test(text.slice(at, at + 9))) return text.slice(at, at + 9)
    TAG_NAME.lastIndex = at
    const name = TAG_NAME.exec(text)?.[1]
    if (name === undefined || !HTML_ELEMENTS.has(name.toLowerCase())) continue
    const afterName = TAG_NAME.lastIndex
    // A tag ends at once or carries an attribute; "<b and c>" is a comparison, "<b class=x>" is not.
    for (const end of [TAG_END, ATTRIBUTES_END]) {
      end.lastIndex = afterName
      if (end.test(text)) return text.slice(at, Math.min(end.lastIndex, at + 40))
    }
  }
  return undefined
}

/** The first HTML entity, which plain text would show as it is written, or undefined. */
export function findHtmlEntity(text: string): string | undefined {
  if (!text.includes('&')) return undefined
  return /&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp|[a-zA-Z]{1,8}(?:acute|grave|uml|circ|tilde|cedil|ring|dash|quo)|euro|pound|copy|reg|trade|deg|hellip|bull|szlig);/.exec(
    text
  )?.[0]
}

/** Whether a colour is, or contains, a hex code: #fff, #FFAA00, 0xFFAA00, or six bare hex digits such as 1A2B3C. */
export function hasHexColor(text: string): boolean {
  if (/#(?:[0-9a-f]{3,4}){1,2}\b/i.test(text) || /\b0x[0-9a-f]{6}\b/i.test(text)) return true
  return /^(?=.*[0-9])[0-9a-f]{6}$/i.test(text)
}
