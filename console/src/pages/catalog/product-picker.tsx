/** Up to fifty products picked by hand, found by how their ids begin. */
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { ask } from '../../client/api.ts'
import { Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import type { CatalogAt, Glimpse } from './api.ts'
import { Picture } from './picture.tsx'
import { Price } from './tiles.tsx'

export const PICKED_MAX = 50

export function ProductPicker({
  catalog,
  picked,
  onChange,
  problem
}: {
  catalog: CatalogAt
  picked: readonly Glimpse[]
  onChange: (picked: Glimpse[]) => void
  problem: string | undefined
}) {
  const [text, setText] = useState('')
  const prefix = useDeferredValue(text.trim())
  const found = useQuery({
    queryKey: catalog.key('picking', prefix),
    queryFn: ({ signal }) =>
      ask<Glimpse[]>('GET', catalog.path('/products/search'), {
        query: { id_prefix: prefix || undefined, count: 12 },
        signal
      }),
    placeholderData: (before) => before
  })
  const isPicked = ({ product_key }: Glimpse) => picked.some((each) => each.product_key === product_key)
  return (
    <div className="grid-2">
      <section className="stack" aria-label="Find products">
        <TextField
          label="Id begins with"
          value={text}
          onChange={({ target }) => setText(target.value)}
          spellCheck={false}
          autoComplete="off"
        />
        {found.error ? <Problem error={found.error} /> : null}
        <ul className="samples">
          {found.data?.map((product) => (
            <Row key={product.product_key} catalog={catalog} product={product}>
              <Button
                size="small"
                icon={isPicked(product) ? 'check' : 'plus'}
                disabled={isPicked(product) || picked.length >= PICKED_MAX}
                onClick={() => onChange([...picked, product])}
                aria-label={`${isPicked(product) ? 'Added' : 'Add'} ${product.id}`}
              >
                {isPicked(product) ? 'Added' : 'Add'}
              </Button>
            </Row>
          ))}
        </ul>
        {found.data?.length === 0 ? <p className="muted">No id begins with “{prefix}”.</p> : null}
      </section>
      <section className="stack" aria-label="Picked products">
        <h3>
          Picked: {picked.length} of {PICKED_MAX}
        </h3>
        {problem ? (
          <p className="bad small" role="alert">
            {problem}
          </p>
        ) : null}
        {picked.length === 0 ? <p className="muted">Add the products that belong to the set.</p> : null}
        <ul className="samples">
          {picked.map((product) => (
            <Row key={product.product_key} catalog={catalog} product={product}>
              <Button
                size="small"
                variant="ghost"
                icon="cross"
                aria-label={`Take ${product.id} out`}
                onClick={() => onChange(picked.filter(({ product_key }) => product_key !== product.product_key))}
              />
            </Row>
          ))}
        </ul>
      </section>
    </div>
  )
}

const Row = ({ catalog, product, children }: { catalog: CatalogAt; product: Glimpse; children: React.ReactNode }) => (
  <li>
    <span className="thumb">
      <Picture catalog={catalog} product={product} />
    </span>
    <span className="stack tight">
      <span className="ellipsis">{product.title}</span>
      <span className="row small muted">
        <span className="mono ellipsis">{product.id}</span>
        <Price product={product} />
      </span>
    </span>
    {children}
  </li>
)
