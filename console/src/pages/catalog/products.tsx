/** Products as a grid or a list, page by page as one scrolls; found by their ids or their group. */
import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useCallback, useMemo, useState } from 'react'
import { count, plural } from '../../client/format.ts'
import { Badge, Empty, Problem, Segmented } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SearchBox } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type Column, LongTable } from '../../ui/table.tsx'
import { type CatalogAt, type Figures, productPages, type Warning, warningsQuery } from './api.ts'
import { Picture } from './picture.tsx'
import { ProductDrawer } from './product.tsx'
import { AVAILABILITY_TONES, type Product } from './product-fields.ts'
import { Price, Tiles } from './tiles.tsx'

const route = getRouteApi('/shell/catalog/$catalogId')

export const Availability = ({ value }: { value: string }) => (
  <Badge tone={AVAILABILITY_TONES[value] ?? 'plain'}>{value}</Badge>
)

/** Asked for page by page, as the products are. */
function useWarnings(catalog: CatalogAt, pages: readonly (readonly Product[])[]) {
  const results = useQueries({
    queries: pages
      .filter((page) => page.length > 0)
      .map((page) =>
        warningsQuery(
          catalog,
          page.map(({ product_key }) => product_key)
        )
      )
  })
  const found = results.map(({ data }) => data)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers are what it depends on, not the list of them
  return useMemo(
    () =>
      Map.groupBy(
        found.flatMap((data) => data ?? []),
        ({ product_key }) => product_key
      ),
    [...found, found.length]
  )
}

export const Issues = ({ warnings }: { warnings: readonly Warning[] | undefined }) =>
  warnings?.length ? (
    <span title={warnings.map(({ message }) => message).join('\n')}>
      <Badge tone="warn">
        <Icon name="alert" size={12} />
        {plural(warnings.length, 'issue')}
      </Badge>
    </span>
  ) : null

export function Products({ catalog, figures }: { catalog: CatalogAt; figures: Figures }) {
  const { view, id, group, product } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(productPages(catalog, { id, group }))
  const pages = useMemo(() => list.data?.pages.map(({ data }) => data) ?? [], [list.data])
  const rows = useMemo(() => pages.flat(), [pages])
  const warnings = useWarnings(catalog, pages)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const open = (key: string) => void navigate({ search: (was) => ({ ...was, product: key }) })
  const isFiltered = id !== undefined || group !== undefined
  const columns = useMemo(() => columnsFor(catalog, (key) => warnings.get(key)), [catalog, warnings])
  return (
    <>
      <div className="filters">
        <IdSearch
          key={id ?? ''}
          value={id}
          onSearch={(next) =>
            void navigate({ search: (was) => ({ ...was, id: next, group: undefined }), replace: true })
          }
        />
        <Segmented
          label="Show as"
          value={view ?? 'grid'}
          onChange={(next) =>
            void navigate({ search: (was) => ({ ...was, view: next === 'list' ? next : undefined }), replace: true })
          }
          options={[
            ['grid', 'Grid'],
            ['list', 'List']
          ]}
        />
        {group === undefined ? null : <Badge tone="accent">Variants of one item group</Badge>}
        {isFiltered ? (
          <Button
            variant="ghost"
            size="small"
            icon="cross"
            onClick={() => void navigate({ search: (was) => ({ ...was, id: undefined, group: undefined }) })}
          >
            Show all
          </Button>
        ) : null}
      </div>
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <TilesLoading />
      ) : rows.length === 0 && !list.error ? (
        <NoProducts catalog={catalog} isFiltered={isFiltered} id={id} />
      ) : view === 'list' ? (
        <LongTable
          label="Products"
          rows={rows}
          columns={columns}
          keyOf={({ product_key }) => product_key}
          minWidth="58rem"
          activeKey={product}
          onOpen={({ product_key }) => open(product_key)}
          onEnd={hasNextPage ? more : undefined}
          loadingMore={isFetchingNextPage}
          foot={<Foot shown={rows.length} more={hasNextPage} loading={isFetchingNextPage} />}
        />
      ) : (
        <>
          <Tiles
            catalog={catalog}
            products={rows}
            label="Products"
            onEnd={more}
            link={(each, content) => (
              <Link
                className="product-tile"
                from="/catalog/$catalogId"
                to="."
                search={(was) => ({ ...was, product: each.product_key })}
                resetScroll={false}
              >
                {content}
              </Link>
            )}
            badges={(each) => (
              <>
                <Issues warnings={warnings.get(each.product_key)} />
                {each.item_group_key && group === undefined ? <Badge tone="accent">variants</Badge> : null}
                {each.availability === 'in stock' ? null : <Availability value={each.availability} />}
              </>
            )}
          />
          <p className="tiles-foot">
            <Foot shown={rows.length} more={hasNextPage} loading={isFetchingNextPage} />
          </p>
        </>
      )}
      <ProductDrawer
        catalog={catalog}
        productKey={product}
        onClose={() => void navigate({ search: ({ product: _, ...was }) => was, resetScroll: false })}
        counted={figures}
      />
    </>
  )
}

const Foot = ({ shown, more, loading }: { shown: number; more: boolean; loading: boolean }) => (
  <>
    <span className="num">
      {count(shown)} {more ? 'shown; scroll for more' : 'in all'}
    </span>
    <span>{loading ? 'Loading more …' : ''}</span>
  </>
)

const columnsFor = (
  catalog: CatalogAt,
  warningsFor: (key: string) => readonly Warning[] | undefined
): Column<Product>[] => [
  {
    id: 'picture',
    header: '',
    width: '4.3rem',
    cell: (product) => (
      <span className="thumb">
        <Picture catalog={catalog} product={product} />
      </span>
    )
  },
  { id: 'id', header: 'Id', width: '11rem', cell: ({ id }) => <span className="mono">{id}</span> },
  { id: 'title', header: 'Title', cell: ({ title }) => title },
  { id: 'price', header: 'Price', width: '13rem', align: 'end', cell: (product) => <Price product={product} /> },
  {
    id: 'availability',
    header: 'Availability',
    width: '10rem',
    cell: ({ availability }) => <Availability value={availability} />
  },
  {
    id: 'inventory',
    header: 'Inventory',
    width: '6.5rem',
    align: 'end',
    cell: ({ inventory }) => <span className="num">{inventory === null ? '–' : count(inventory)}</span>
  },
  {
    id: 'issues',
    header: 'Issues',
    width: '8rem',
    cell: ({ product_key }) => <Issues warnings={warningsFor(product_key)} />
  }
]

/** The ids of a catalog are the merchant's own; whole words of titles are not searched. */
function IdSearch({ value, onSearch }: { value: string | undefined; onSearch: (id: string | undefined) => void }) {
  const [text, setText] = useState(value ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(text.trim() || undefined)
  }
  return (
    <form className="row" onSubmit={submit}>
      <SearchBox
        label="Id begins with"
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          if (target.value === '') onSearch(undefined)
        }}
        spellCheck={false}
        autoComplete="off"
      />
      <Button type="submit">Find</Button>
    </form>
  )
}

function NoProducts({ catalog, isFiltered, id }: { catalog: CatalogAt; isFiltered: boolean; id: string | undefined }) {
  if (isFiltered)
    return (
      <Empty icon="search" title={id === undefined ? 'This group has no products' : `No id begins with “${id}”`}>
        Ids are compared as they are written: upper and lower case differ.
      </Empty>
    )
  return (
    <Empty
      icon="catalog"
      title="No products yet"
      action={
        <span className="row wrap" style={{ justifyContent: 'center' }}>
          <Link
            className="button primary"
            to="/catalog/$catalogId"
            params={{ catalogId: catalog.id }}
            search={{ tab: 'feed' }}
          >
            Set up a feed
          </Link>
          <Link
            className="button"
            to="/catalog/$catalogId"
            params={{ catalogId: catalog.id }}
            search={{ product: 'new' }}
          >
            Add a product
          </Link>
        </span>
      }
    >
      A feed brings all of them from a file of your shop and keeps them up to date. Single products can be added here.
    </Empty>
  )
}

const TilesLoading = () => (
  <output className="tiles-loading">
    <span className="visually-hidden">Loading products</span>
    {Array.from({ length: 12 }, (_, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <span key={i} className="skeleton" aria-hidden="true" />
    ))}
  </output>
)
