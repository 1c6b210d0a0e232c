/** Tables: short ones as they are, long ones with only the visible rows in the page. */
import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react'

export interface Column<T> {
  id: string
  header: string
  cell: (row: T) => ReactNode
  /** A CSS grid track in long tables; `shrink` fits the content in short ones. */
  width?: string
  align?: 'end'
  /** Cut off instead of wrapped. */
  clip?: boolean
}

const features = tableFeatures({})
type Features = typeof features

function useRows<T extends object>(rows: readonly T[], columns: readonly Column<T>[], keyOf: (row: T) => string) {
  const defs = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<Features, T> => ({
          id: column.id,
          header: column.header,
          cell: ({ row }) => column.cell(row.original)
        })
      ),
    [columns]
  )
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns])
  const table = useTable<Features, T>({ features, columns: defs, data: rows as T[], getRowId: keyOf })
  return { table, byId }
}

export interface TableProps<T> {
  rows: readonly T[]
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  /** What the table holds, for people who cannot see it. */
  label: string
}

export function Table<T extends object>({ rows, columns, keyOf, label }: TableProps<T>) {
  const { table, byId } = useRows(rows, columns, keyOf)
  const classOf = (id: string) => {
    const { align, width, clip } = byId.get(id)!
    return [align ?? '', width === 'shrink' ? 'shrink' : '', clip ? 'clip' : ''].filter(Boolean).join(' ')
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className="table-wrap" role="region" aria-label={label} tabIndex={0}>
      <table className="table" aria-label={label}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <th key={header.id} scope="col" className={classOf(header.column.id)}>
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getAllCells().map((cell) => (
                <td key={cell.id} className={classOf(cell.column.id)}>
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export interface LongTableProps<T> extends TableProps<T> {
  onOpen: (row: T) => void
  activeKey?: string | undefined
  /** Called when the end comes into sight. */
  onEnd?: (() => void) | undefined
  loadingMore?: boolean
  foot: ReactNode
  /** Where rows are narrower than this, the table scrolls sideways. */
  minWidth?: string
  empty?: ReactNode
}

const ROW_HEIGHT = 38

/** Rows are asked for as they come into sight; arrow keys, Home and End move, Enter opens. */
export function LongTable<T extends object>(props: LongTableProps<T>) {
  const { rows, columns, keyOf, label, onOpen, activeKey, onEnd, loadingMore, foot, minWidth = '44rem', empty } = props
  const { table, byId } = useRows(rows, columns, keyOf)
  const scroller = useRef<HTMLDivElement>(null)
  const model = table.getRowModel().rows
  const virtual = useVirtualizer({
    count: model.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (last >= model.length - 20 && !loadingMore) onEnd?.()
  }, [last, model.length, loadingMore, onEnd])

  const move = (event: KeyboardEvent, from: number) => {
    const to = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      Home: 0,
      End: model.length - 1,
      PageDown: from + 10,
      PageUp: from - 10
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const index = Math.max(0, Math.min(model.length - 1, to))
    virtual.scrollToIndex(index)
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus())
  }
  const style = {
    '--columns': columns.map(({ width }) => width ?? 'minmax(0, 1fr)').join(' '),
    '--columns-min': minWidth
  } as React.CSSProperties

  if (model.length === 0) return <div className="vtable">{empty}</div>
  return (
    <div className="vtable" style={style} role="table" aria-label={label} aria-rowcount={onEnd ? -1 : model.length}>
      <div className="vtable-scroll" ref={scroller}>
        <div className="vtable-head" role="row">
          {columns.map((column) => (
            <div key={column.id} role="columnheader" className={column.align ?? ''}>
              {column.header}
            </div>
          ))}
        </div>
        <div className="vtable-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = model[item.index]!
            return (
              <div
                key={row.id}
                role="row"
                className="vtable-row"
                data-index={item.index}
                aria-rowindex={item.index + 2}
                tabIndex={item.index === 0 || row.id === activeKey ? 0 : -1}
                data-active={row.id === activeKey ? '' : undefined}
                style={{ transform: `translateY(${item.start}px)` }}
                onClick={() => onOpen(row.original)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget) onOpen(row.original)
                  else move(event, item.index)
                }}
              >
                {row.getAllCells().map((cell) => (
                  <div key={cell.id} role="cell" className={byId.get(cell.column.id)!.align === 'end' ? 'end' : ''}>
                    <table.FlexRender cell={cell} />
                  </div>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      <div className="vtable-foot">{foot}</div>
    </div>
  )
}
