import type { KeyboardEvent, ReactNode } from 'react'

/** Tabs whose choice lives in the address: the page says which is open and what choosing one does. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
  children
}: {
  label: string
  tabs: readonly (readonly [T, string])[]
  value: T
  onChange: (tab: T) => void
  children: ReactNode
}) {
  const move = (event: KeyboardEvent, from: number) => {
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const [next] = tabs[(to + tabs.length) % tabs.length]!
    document.getElementById(`tab-${next}`)?.focus()
    onChange(next)
  }
  return (
    <>
      <div className="tabs-list" role="tablist" aria-label={label}>
        {tabs.map(([name, text], at) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="tab-panel"
            aria-selected={value === name}
            tabIndex={value === name ? 0 : -1}
            onClick={() => onChange(name)}
            onKeyDown={(event) => move(event, at)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${value}`}>
        {children}
      </div>
    </>
  )
}
