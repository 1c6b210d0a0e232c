/** XML feeds, RSS 2.0 or Atom, read as a stream in bounded memory. */
import { isUtf8 } from 'node:buffer'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { type Issue, issue } from '../issues.ts'
import { PRODUCT_FIELDS } from '../product-fields.ts'
import { FEED_LIMITS, type FeedBatch, FeedError, type FeedLimits, type FeedRow } from './rows.ts'
import { firstInvalidUtf8, invalidUtf8Message, nulMessage } from './utf8.ts'
import { ATOM_NAMESPACE, findField, isExpectedElsewhere } from './xml-names.ts'

/** Between slices the parser is checked for text that never ends. */
const SLICE_BYTES = 64 * 1024

export async function* readXml(source: AsyncIterable<Buffer>, limits = FEED_LIMITS): AsyncGenerator<FeedBatch> {
  const reader = new XmlReader(limits)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      const bytes = rest.length > 0 ? Buffer.concat([rest, slice]) : slice
      const end = wholeCharacters(bytes)
      rest = bytes.subarray(end)
      yield reader.read(bytes.subarray(0, end))
    }
  }
  yield reader.read(rest)
  yield reader.close()
}

/** Where the last whole UTF-8 character ends; a character that a chunk cuts in two waits for the next one. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return back < length ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

const UNSET: readonly string[] = PRODUCT_FIELDS.map(() => '')
const IMAGES = PRODUCT_FIELDS.indexOf('additional_image_link')
const NAMES_WARNED_MAX = 100

/** The item whose element is open, and how each of its fields was found. */
interface OpenItem {
  row: FeedRow
  fields: string[]
  ranks: Uint8Array
  start: number
}

/** The field whose element is open. */
interface OpenField {
  index: number
  rank: number
  text: string
}

class XmlReader {
  readonly #limits: FeedLimits
  readonly #parser = new SaxesParser({ xmlns: true, position: true })
  #bytes = 0
  /** Where the last text, tag or comment ended. */
  #progressed = 0
  #depth = 0
  /** The depth of items: 3 for rss/channel/item, 2 for feed/entry, 0 before the root. */
  #itemDepth = 0
  #row = 0
  #item: OpenItem | undefined
  #field: OpenField | undefined
  readonly #warned = new Set<string>()
  #rows: FeedRow[] = []
  #warnings: Issue[] = []

  constructor(limits: FeedLimits) {
    this.#limits = limits
    const parser = this.#parser
    // As few handlers as possible: with more, the engine keeps the parser in its slow form and everything takes five times
    // as long. The XML declaration is read from the parser, errors are caught, comments need no ear.
    parser.on('doctype', () => this.#refuseDoctype())
    parser.on('opentag', (tag) => this.#open(tag))
    parser.on('closetag', () => this.#close())
    parser.on('text', (text) => this.#text(text))
    parser.on('cdata', (text) => this.#text(text))
  }

  /** Reads bytes that end with a whole character. */
  read(bytes: Buffer): FeedBatch {
    const nul = bytes.indexOf(0)
    const valid = nul < 0 && isUtf8(bytes) ? bytes : bytes.subarray(0, nul < 0 ? firstInvalidUtf8(bytes) : nul)
    this.#parse(() => this.#parser.write(valid.toString('utf8')))
    this.#checkEncoding(this.#parser.xmlDecl.encoding)
    this.#bytes += valid.length
    if (valid !== bytes) this.#refuseBytes(nul < 0 ? bytes[valid.length] : 0)
    this.#checkUnfinished()
    return this.#batch()
  }

  close(): FeedBatch {
    if (this.#itemDepth === 0 && this.#bytes === 0) {
      throw new FeedError('EMPTY_FILE', 'The file is empty. Check what the feed address serves.')
    }
    this.#parse(() => this.#parser.close())
    return this.#batch()
  }

  #batch(): FeedBatch {
    const batch = { rows: this.#rows, rejected: [], warnings: this.#warnings, columns: [], bytes: this.#bytes }
    this.#rows = []
    this.#warnings = []
    return batch
  }

  #parse(step: () => void) {
    try {
      step()
    } catch (error) {
      // The declaration explains an error that a wrong encoding causes.
      this.#checkEncoding(this.#parser.xmlDecl.encoding)
      throw error instanceof FeedError ? error : this.#malformed(error as Error)
    }
  }

  #open(tag: SaxesTagNS) {
    this.#progress()
    const depth = ++this.#depth
    if (depth > this.#limits.depthMax) {
      this.#refuse(
        'TOO_DEEP',
        `nests elements more than ${this.#limits.depthMax} deep. Give each product as one flat item.`
      )
    }
    if (depth === 1) this.#openRoot(tag)
    else if (depth === this.#itemDepth) this.#openItem(tag)
    else if (depth === this.#itemDepth + 1 && this.#item) this.#openField(tag)
    // Markup inside a value is not part of it, but must not vanish either: the product rules will name it.
    else if (this.#field && depth === this.#itemDepth + 2) this.#field.text += `<${tag.name}>`
  }

  #openRoot({ local, uri }: SaxesTagNS) {
    if (local === 'rss') this.#itemDepth = 3
    else if (local === 'feed' && uri === ATOM_NAMESPACE) this.#itemDepth = 2
    else {
      const wanted = `<rss> (RSS 2.0) or <feed xmlns="${ATOM_NAMESPACE}"> (Atom)`
      this.#refuse(
        'UNKNOWN_XML',
        `has <${local.slice(0, 60)}> as its outermost element. Publish the feed as ${wanted}.`
      )
    }
  }

  #openItem({ local }: SaxesTagNS) {
    if (local !== (this.#itemDepth === 3 ? 'item' : 'entry')) return
    this.#row++
    const fields = UNSET.slice()
    const row = { row: this.#row, line: this.#parser.line, fields }
    this.#item = { row, fields, ranks: new Uint8Array(UNSET.length), start: this.#parser.position }
  }

  #openField(tag: SaxesTagNS) {
    const found = findField(tag, this.#itemDepth === 2)
    if (found) this.#field = { ...found, text: found.text ?? '' }
    else if (!isExpectedElsewhere(tag, this.#itemDepth === 2)) {
      const rule = 'is not a product field and was ignored. Check its spelling or remove it.'
      this.#warnOnce('UNKNOWN_ELEMENT', tag.name, (shown) => `Element ${shown} ${rule}`)
    }
  }

  #text(text: string) {
    this.#progress()
    if (this.#field && this.#depth === this.#itemDepth + 1) this.#field.text += text
  }

  #close() {
    this.#progress()
    const depth = this.#depth--
    if (this.#item === undefined) return
    if (depth === this.#itemDepth + 1 && this.#field) this.#closeField(this.#item, this.#field)
    if (depth !== this.#itemDepth) return
    this.#checkItemSize(this.#item)
    this.#rows.push(this.#item.row)
    this.#item = undefined
  }

  #closeField({ fields, ranks }: OpenItem, { index, rank, text }: OpenField) {
    this.#field = undefined
    if (text.trim() === '') return
    const held = ranks[index]!
    if (rank > held) {
      fields[index] = text
      ranks[index] = rank
    } else if (rank === held && index === IMAGES) fields[index] += `,${text.trim()}`
    else if (rank === held && fields[index] !== text) {
      const message = (shown: string) =>
        `${shown} is given more than once in an item; only the first counts. Give it once.`
      this.#warnOnce('REPEATED_ELEMENT', PRODUCT_FIELDS[index]!, message)
    }
  }

  #warnOnce(code: string, name: string, message: (shown: string) => string) {
    if (this.#warned.has(name) || this.#warned.size >= NAMES_WARNED_MAX) return
    this.#warned.add(name)
    const where = `First seen in item ${this.#row}, line ${this.#parser.line}.`
    this.#warnings.push(issue(code, name.slice(0, 100), name, (shown) => `${message(shown)} ${where}`))
  }

  /** Nothing in a feed is longer than a field may be; text that never ends must not gather in the parser. */
  #progress() {
    const { position } = this.#parser
    if (position - this.#progressed > this.#limits.fieldBytesMax) {
      const rule = `has a text, comment or tag longer than ${this.#limits.fieldBytesMax} characters. Check that it is closed.`
      this.#refuse('FIELD_TOO_LONG', rule)
    }
    this.#progressed = position
  }

  #checkUnfinished() {
    const progressed = this.#progressed
    this.#progress()
    this.#progressed = progressed
    if (this.#item) this.#checkItemSize(this.#item)
  }

  #checkItemSize({ start }: OpenItem) {
    if (this.#parser.position - start > this.#limits.rowBytesMax) {
      this.#refuse(
        'ROW_TOO_LONG',
        `has an item longer than ${this.#limits.rowBytesMax} characters. Check that each item is closed.`
      )
    }
  }

  #refuseDoctype() {
    this.#progress()
    const rule =
      'has a document type declaration (<!DOCTYPE …>). Remove it: entities and external files are never read.'
    this.#refuse('DOCTYPE', rule)
  }

  #checkEncoding(encoding = 'UTF-8') {
    if (/^(?:utf-?8|us-ascii)$/i.test(encoding)) return
    this.#refuse('NOT_UTF8', `says that it is encoded in ${encoding.slice(0, 40)}. Save it as UTF-8.`)
  }

  #refuseBytes(byte: number | undefined): never {
    const where = `line ${this.#parser.line}`
    const message = byte === 0 ? nulMessage(this.#bytes, where) : invalidUtf8Message(byte, this.#bytes, where)
    throw new FeedError(byte === 0 ? 'NUL_BYTE' : 'NOT_UTF8', message, { ...this.#place(), byte: this.#bytes })
  }

  #malformed(error: Error): FeedError {
    const problem = error.message.replace(/^[^ ]*\d+:\d+: /, '').replace(/\.$/, '')
    const advice = /unbound namespace prefix: "g"/.test(problem)
      ? 'Declare it in the outermost element: xmlns:g="http://base.google.com/ns/1.0".'
      : /undefined entity/.test(problem)
        ? 'XML knows only &amp; &lt; &gt; &quot; &apos; and numbers such as &#160;: write the character itself.'
        : 'Check the file with an XML validator.'
    return this.#error('NOT_WELL_FORMED', `is not well-formed: ${problem.slice(0, 200)}. ${advice}`)
  }

  #refuse(code: string, rule: string): never {
    throw this.#error(code, rule)
  }

  #error(code: string, rule: string): FeedError {
    const { row, line } = this.#place()
    const item = row === undefined ? '' : `item ${row}, `
    return new FeedError(
      code,
      `The XML file (${item}line ${line}, column ${this.#parser.column + 1}) ${rule}`,
      this.#place()
    )
  }

  #place() {
    return { ...(this.#item ? { row: this.#row } : {}), line: this.#parser.line }
  }
}
