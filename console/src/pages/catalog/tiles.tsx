/** Products as a grid of pictures. Only what is in sight is in the page, however many there are. */
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { CatalogAt, Glimpse } from './api.ts'
import { Picture } from './picture.tsx'

const TILE_WIDTH_MIN = 176
const GAP = 14
const TEXT_HEIGHT = 106

export interface TilesProps<T> {
  catalog: CatalogAt
  products: readonly T[]
  label: string
  /** What a tile opens, and the words below its picture. */
  link: (product: T, content: ReactNode) => ReactNode
  badges?: (product: T) => ReactNode
  /** Called when the end comes into sight. */
  onEnd?: (() => void) | undefined
}

function useWidth() {
  const element = useRef<HTMLUListElement>(null)
  const [place, setPlace] = useState({ width: 0, top: 0 })
  useLayoutEffect(() => {
    const host = element.current!
    const measure = () => {
      const next = { width: host.clientWidth, top: Math.round(host.getBoundingClientRect().top + window.scrollY) }
      setPlace((was) => (was.width === next.width && was.top === next.top ? was : next))
    }
    measure()
    // What stands above may grow as well: the body tells.
    const observer = new ResizeObserver(measure)
    observer.observe(host)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [])
  return { element, ...place }
}

export function Tiles<T extends Glimpse>({ catalog, products, label, link, badges, onEnd }: TilesProps<T>) {
  const { element, width, top } = useWidth()
  const columns = Math.max(2, Math.floor((width + GAP) / (TILE_WIDTH_MIN + GAP)))
  const tileWidth = (width - GAP * (columns - 1)) / columns
  const rowHeight = Math.round(tileWidth + TEXT_HEIGHT + GAP)
  const rows = Math.ceil(products.length / columns)
  const virtual = useWindowVirtualizer({
    count: width === 0 ? 0 : rows,
    estimateSize: () => rowHeight,
    overscan: 3,
    scrollMargin: top
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height of rows is all that matters
  useEffect(() => virtual.measure(), [rowHeight])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (last >= rows - 4) onEnd?.()
  }, [last, rows, onEnd])
  return (
    <ul className="tiles" ref={element} aria-label={label} style={{ height: Math.max(0, rows * rowHeight - GAP) }}>
      {items.flatMap((row) =>
        products.slice(row.index * columns, (row.index + 1) * columns).map((product, column) => (
          <li
            key={product.product_key}
            style={{
              width: tileWidth,
              height: rowHeight - GAP,
              transform: `translate(${column * (tileWidth + GAP)}px, ${row.start - top}px)`
            }}
          >
            {link(
              product,
              <>
                <Picture catalog={catalog} product={product} />
                <span className="tile-text">
                  <span className="tile-title">{product.title}</span>
                  <Price product={product} />
                  <span className="mono small muted ellipsis">{product.id}</span>
                </span>
              </>
            )}
            {badges ? <span className="tile-badges">{badges(product)}</span> : null}
          </li>
        ))
      )}
    </ul>
  )
}

export const Price = ({ product }: { product: { price: string; sale_price?: string | null } }) => (
  <span className="num">
    {product.sale_price ? (
      <>
        <strong>{product.sale_price}</strong>{' '}
        <s className="muted small">
          <span className="visually-hidden">instead of </span>
          {product.price}
        </s>
      </>
    ) : (
      <strong>{product.price}</strong>
    )}
  </span>
)
