import { Fragment, type ReactNode } from 'react'
import { CopyButton } from './bits.tsx'

export const Code = ({ text, wrap, label }: { text: string; wrap?: boolean; label: string }) => (
  <div className={`code ${wrap ? 'wrap' : ''}`}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <pre tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
    <div className="code-actions">
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  </div>
)

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g
const LARGEST_COLOURED = 60_000

/** JSON as it came, indented and coloured; text that is none stays as it is. */
export function Json({ text, label }: { text: string; label: string }) {
  const pretty = indented(text)
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {pretty.length > LARGEST_COLOURED ? pretty : coloured(pretty)}
      </pre>
      <div className="code-actions">
        <CopyButton text={pretty} label={`Copy ${label}`} />
      </div>
    </div>
  )
}

/** Indents without parsing numbers, so that large ones keep their digits. */
function indented(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  return text.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]|\s+/g, (token, at: number) => {
    if (/^\s/.test(token)) return ''
    if (token === '{' || token === '[') {
      const closes = /^\s*[}\]]/.test(text.slice(at + 1, at + 50))
      depth++
      return closes ? token : token + line()
    }
    if (token === '}' || token === ']') {
      depth--
      return /[{[]\s*$/.test(text.slice(Math.max(0, at - 50), at)) ? token : line() + token
    }
    if (token === ',') return token + line()
    return token === ':' ? ': ' : token
  })
}

function coloured(text: string): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon] = match
    parts.push(text.slice(end, match.index))
    const kind = string === undefined ? (/^[-\d]/.test(token) ? 'number' : 'word') : colon ? 'key' : 'string'
    parts.push(
      <Fragment key={match.index}>
        <span className={`json-${kind}`}>{string ?? token}</span>
        {colon}
      </Fragment>
    )
    end = match.index + token.length
  }
  parts.push(text.slice(end))
  return parts
}
