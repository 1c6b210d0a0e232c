/** Images that were looked at and found wrong, product by product. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { count } from '../../client/format.ts'
import { Badge, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { type Column, LongTable } from '../../ui/table.tsx'
import { type CatalogAt, type ImageIssue, imageIssuePages } from './api.ts'
import { ProductDrawer } from './product.tsx'
import { labelOf } from './product-fields.ts'

const route = getRouteApi('/shell/catalog/$catalogId')

const NAMES: Record<string, string> = {
  IMAGE_TYPE: 'Not an image we show',
  IMAGE_TOO_SMALL: 'Too small',
  IMAGE_TOO_LARGE: 'Too large',
  IMAGE_UNREACHABLE: 'Not reachable',
  IMAGE_ADDRESS_REFUSED: 'Address refused'
}

const COLUMNS: Column<ImageIssue>[] = [
  { id: 'id', header: 'Product', width: '12rem', cell: ({ id }) => <span className="mono">{id}</span> },
  { id: 'field', header: 'Field', width: '8.5rem', cell: ({ field }) => labelOf(field) },
  {
    id: 'code',
    header: 'What is wrong',
    width: '12rem',
    cell: ({ code }) => <Badge tone="warn">{NAMES[code] ?? code}</Badge>
  },
  { id: 'message', header: 'What to do', cell: ({ message }) => <span title={message}>{message}</span> },
  {
    id: 'checked',
    header: 'Looked at',
    width: '8.5rem',
    cell: ({ checked_at }) => <Time iso={checked_at} form="relative" />
  }
]

export function ImageIssues({ catalog }: { catalog: CatalogAt }) {
  const { product } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(imageIssuePages(catalog))
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <Loading what="image issues" />
  return (
    <>
      <LongTable
        label="Image issues"
        rows={rows}
        columns={COLUMNS}
        keyOf={({ product_key, field, url }) => `${product_key} ${field} ${url}`}
        minWidth="60rem"
        onOpen={({ product_key }) => void navigate({ search: (was) => ({ ...was, product: product_key }) })}
        onEnd={hasNextPage ? more : undefined}
        loadingMore={isFetchingNextPage}
        empty={
          <Empty icon="picture" title="No image is known to be wrong">
            Images of new and changed products are looked at in the background: their type, their size in pixels, and
            whether they can be reached at all.
          </Empty>
        }
        foot={
          <span className="num">
            {count(rows.length)} {hasNextPage ? 'shown; scroll for more' : 'in all'}
          </span>
        }
      />
      <ProductDrawer
        catalog={catalog}
        productKey={product}
        onClose={() => void navigate({ search: ({ product: _, ...was }) => was })}
      />
    </>
  )
}
