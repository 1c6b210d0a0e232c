/** One product beside the list: seen, changed in place, created or deleted. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { CopyButton, Loading, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Confirm, Drawer, say } from '../../ui/overlays.tsx'
import { type CatalogAt, type Figures, productQuery, warningsQuery } from './api.ts'
import { Picture } from './picture.tsx'
import type { Product } from './product-fields.ts'
import { ProductForm } from './product-form.tsx'

export function ProductDrawer({
  catalog,
  productKey,
  onClose,
  counted
}: {
  catalog: CatalogAt
  productKey: string | undefined
  onClose: () => void
  counted?: Figures
}) {
  const isNew = productKey === 'new'
  return (
    <Drawer open={productKey !== undefined} onClose={onClose} title={isNew ? 'New product' : 'Product'}>
      {productKey === undefined ? null : isNew ? (
        <>
          {counted?.product_count === 0 ? (
            <p className="muted small">The first product of this catalog. Others can come from a feed.</p>
          ) : null}
          <ProductForm catalog={catalog} onDone={onClose} />
        </>
      ) : (
        <OneProduct key={productKey} catalog={catalog} productKey={productKey} onClose={onClose} />
      )}
    </Drawer>
  )
}

interface OneProps {
  catalog: CatalogAt
  productKey: string
  onClose: () => void
}

function OneProduct({ catalog, productKey, onClose }: OneProps) {
  const product = useQuery({ ...productQuery(catalog, productKey), staleTime: Number.POSITIVE_INFINITY })
  if (product.error) return <Problem error={product.error} retry={() => void product.refetch()} />
  if (!product.data) return <Loading what="the product" />
  return (
    <div className="stack loose">
      <Head catalog={catalog} product={product.data} onClose={onClose} />
      <ProductForm
        key={JSON.stringify(product.data)}
        catalog={catalog}
        product={product.data}
        onDone={() => void product.refetch()}
      />
    </div>
  )
}

function Head({ catalog, product, onClose }: { catalog: CatalogAt; product: Product; onClose: () => void }) {
  const client = useQueryClient()
  const [deleting, setDeleting] = useState(false)
  const { data: warnings } = useQuery(warningsQuery(catalog, [product.product_key]))
  const images = warnings?.filter(({ code }) => code.startsWith('IMAGE_')) ?? []
  const more = product.additional_image_link?.split(',') ?? []
  return (
    <div className="stack">
      <div className="product-pictures">
        <Picture catalog={catalog} product={product} />
        {more.slice(0, 4).map((url, at) => (
          <Picture key={url} catalog={catalog} product={{ ...product, image_link: url }} position={at + 1} />
        ))}
      </div>
      {images.length > 0 ? (
        <ul className="stack tight">
          {images.map(({ message }) => (
            <li key={message} className="callout warn">
              <Icon name="alert" />
              <span className="wrap-anywhere">{message}</span>
            </li>
          ))}
        </ul>
      ) : null}
      <div className="row wrap spread">
        <span className="row wrap small muted">
          key <code>{product.product_key}</code>
          <CopyButton text={product.product_key} label="Copy the key" />
        </span>
        <span className="row wrap">
          <a className="button small" href={product.link} target="_blank" rel="noreferrer">
            <Icon name="external" size={14} />
            Open its page
          </a>
          <Button size="small" icon="trash" onClick={() => setDeleting(true)}>
            Delete …
          </Button>
        </span>
      </div>
      {product.item_group_key ? <Group catalog={catalog} product={product} group={product.item_group_key} /> : null}
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${product.title}?`}
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          const { delete_products } = await ask<{ delete_products: { message: string | null }[] }>(
            'DELETE',
            catalog.path('/products'),
            { query: { product_keys: [product.product_key] } }
          )
          if (delete_products[0]?.message) throw new Error(delete_products[0].message)
          onClose()
          await client.invalidateQueries({ queryKey: catalog.key() })
          say('The product is deleted', product.id)
        }}
      >
        It leaves {catalog.listener} and every set it is in, and cannot be brought back by undoing. A feed that still
        has {product.id} brings it again, with another key.
      </Confirm>
    </div>
  )
}

/** Its variants: products with the same item group. */
function Group({ catalog, product, group }: { catalog: CatalogAt; product: Product; group: string }) {
  const { path, key } = catalog
  const { data } = useQuery({
    queryKey: key('variants', group),
    queryFn: ({ signal }) =>
      ask<Product[]>('GET', path('/products'), { query: { item_group_key: group, count: 8 }, signal })
  })
  const others = data?.filter(({ product_key }) => product_key !== product.product_key) ?? []
  return (
    <section className="stack tight" aria-label="Variants">
      <div className="row spread">
        <h3>Variants in group {product.item_group_id}</h3>
        <Link className="small" to="/catalog/$catalogId" params={{ catalogId: catalog.id }} search={{ group }}>
          Show all
        </Link>
      </div>
      <ul className="variants">
        {others.map((each) => (
          <li key={each.product_key}>
            <Link
              to="/catalog/$catalogId"
              params={{ catalogId: catalog.id }}
              search={(was) => ({ ...(was as object), product: each.product_key })}
              title={each.title}
            >
              <Picture catalog={catalog} product={each} />
              <span className="small ellipsis">{[each.color, each.size].filter(Boolean).join(', ') || each.id}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
