/** Small things that every page uses. */
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { localShort, localTime, relative, utc } from '../client/format.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'good' | 'bad' | 'warn' | 'accent' | 'plain'

export const Badge = ({ tone = 'plain', dot, children }: { tone?: Tone; dot?: boolean; children: ReactNode }) => (
  <span className={`badge ${tone === 'plain' ? '' : tone}`}>
    {dot ? <span className="dot" /> : null}
    {children}
  </span>
)

const listeners = new Set<() => void>()
let nowMs = Date.now()
let ticking: ReturnType<typeof setInterval> | undefined

/** The time, once a second, for all that shows ages. */
function subscribe(listener: () => void) {
  listeners.add(listener)
  ticking ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of listeners) each()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}
export const useNow = () =>
  useSyncExternalStore(subscribe, () => {
    if (Date.now() - nowMs > 1_500) nowMs = Date.now()
    return nowMs
  })

/** In the reader's zone; UTC on hover. */
export function Time({ iso, form = 'short' }: { iso: string; form?: 'short' | 'full' | 'relative' }) {
  return form === 'relative' ? (
    <RelativeTime iso={iso} />
  ) : (
    <time dateTime={iso} title={utc(iso)} className="num nowrap">
      {form === 'full' ? localTime(iso) : localShort(iso)}
    </time>
  )
}

function RelativeTime({ iso }: { iso: string }) {
  const now = useNow()
  return (
    <time dateTime={iso} title={`${localTime(iso)} · ${utc(iso)}`} className="num nowrap">
      {relative(iso, now)}
    </time>
  )
}

const COPIED_MS = 1_500

export function CopyButton({ text, label = 'Copy', children }: { text: string; label?: string; children?: ReactNode }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Button
      variant="ghost"
      size="small"
      icon={copied ? 'check' : 'copy'}
      title={label}
      {...(children === undefined ? { 'aria-label': copied ? 'Copied' : label } : {})}
      onClick={(event) => {
        event.stopPropagation()
        event.preventDefault()
        void copyText(text).then(() => setCopied(true))
      }}
    >
      {children === undefined ? undefined : copied ? 'Copied' : children}
    </Button>
  )
}

/** Browsers keep the clipboard from pages over plain http; the old way still works there. */
async function copyText(text: string) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** An id in full, to read and to copy. */
export const Id = ({ value, copy = true }: { value: string; copy?: boolean }) => (
  <span className="id">
    <span className="ellipsis">{value}</span>
    {copy ? <CopyButton text={value} label={`Copy ${value}`} /> : null}
  </span>
)

export const Empty = ({
  icon = 'info',
  title,
  children,
  action
}: {
  icon?: IconName
  title: string
  children?: ReactNode
  action?: ReactNode
}) => (
  <div className="empty">
    <Icon name={icon} size={26} />
    <h3>{title}</h3>
    {children ? <p>{children}</p> : null}
    {action}
  </div>
)

const CALLOUT_ICONS: Record<Tone, IconName> = {
  good: 'check',
  bad: 'alert',
  warn: 'alert',
  accent: 'info',
  plain: 'info'
}

export const Callout = ({
  tone = 'plain',
  children,
  role
}: {
  tone?: Tone
  children: ReactNode
  role?: 'alert' | 'status'
}) => (
  <div className={`callout ${tone}`} {...(role ? { role } : {})}>
    <Icon name={CALLOUT_ICONS[tone]} />
    <div>{children}</div>
  </div>
)

/** What went wrong and what to do. */
export function Problem({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { message, status, requestId } = error as Error & { status?: number; requestId?: string | null }
  return (
    <Callout tone="bad" role="alert">
      <div className="row spread wrap">
        <span>
          {message}
          {status !== undefined && status >= 500 && requestId ? (
            <span className="small"> The log has it under {requestId}.</span>
          ) : null}
        </span>
        {retry ? (
          <Button size="small" icon="refresh" onClick={retry}>
            Try again
          </Button>
        ) : null}
      </div>
    </Callout>
  )
}

export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div className="stack" aria-hidden="true">
    {Array.from({ length: lines }, (_, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <div key={i} className="skeleton" style={{ width: `${92 - ((i * 37) % 45)}%` }} />
    ))}
  </div>
)

export const Loading = ({ what }: { what: string }) => (
  <output className="stack">
    <span className="visually-hidden">Loading {what}</span>
    <Skeleton />
  </output>
)

export const Progress = ({ value, label }: { value: number; label: string }) => (
  <div
    className="progress"
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(value * 100)}
  >
    <div style={{ width: `${Math.round(value * 1000) / 10}%` }} />
  </div>
)

export const Tile = ({
  label,
  value,
  unit,
  note,
  tone
}: {
  label: string
  value: ReactNode
  unit?: string
  note?: ReactNode
  tone?: Tone
}) => (
  <dl className="tile">
    <dt>{label}</dt>
    <dd className={tone === 'plain' ? '' : tone}>
      {value}
      {unit ? <small> {unit}</small> : null}
    </dd>
    {note ? <dd className="note">{note}</dd> : null}
  </dl>
)

export const Card = ({
  title,
  actions,
  children,
  bare
}: {
  title?: ReactNode
  actions?: ReactNode
  children: ReactNode
  bare?: boolean
}) => (
  <section className="card">
    {title ? (
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
    ) : null}
    {bare ? children : <div className="body">{children}</div>}
  </section>
)

export const Facts = ({ items }: { items: (readonly [string, ReactNode] | false | null | undefined)[] }) => (
  <dl className="facts">
    {items
      .filter((item) => !!item)
      .map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

export const Segmented = <V extends string>({
  label,
  value,
  options,
  onChange
}: {
  label: string
  value: V
  options: readonly (readonly [V, string])[]
  onChange: (value: V) => void
}) => (
  <fieldset className="segmented" aria-label={label} style={{ margin: 0 }}>
    {options.map(([option, text]) => (
      <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
        {text}
      </button>
    ))}
  </fieldset>
)
