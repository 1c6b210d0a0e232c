/** The sets of a catalog. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { count } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { Badge, Empty, Loading, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type CatalogAt, type ProductSet, setPages } from './api.ts'
import { inWords } from './filters.ts'

export const SetStatus = ({ set }: { set: ProductSet }) =>
  set.processing_status === 'DONE' ? (
    <Badge tone="good" dot>
      Ready
    </Badge>
  ) : set.processing_status === 'PROCESSING' ? (
    <Badge tone="accent" dot>
      Being computed
    </Badge>
  ) : (
    <Badge tone="bad" dot>
      Failed
    </Badge>
  )

/** Large sets are not counted to their end. */
export const membersOf = ({ product_count, counted_to_end }: ProductSet) =>
  `${count(product_count)}${counted_to_end === false ? '+' : ''}`

const columnsFor = (catalog: CatalogAt): Column<ProductSet>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name, description }) => (
      <>
        <Link className="row-link" to="/catalog/$catalogId/sets/$setId" params={{ catalogId: catalog.id, setId: id }}>
          {name}
        </Link>
        {description ? <div className="muted small">{description}</div> : null}
      </>
    )
  },
  {
    id: 'what',
    header: 'Products that',
    cell: ({ type, filters }) =>
      type === 'MANUAL' ? (
        <span className="muted">were picked by hand</span>
      ) : (
        <span className="row wrap">
          {filters.slice(0, 4).map((filter) => (
            <Badge key={JSON.stringify(filter)}>{inWords(filter)}</Badge>
          ))}
          {filters.length > 4 ? <span className="muted small">and {filters.length - 4} more</span> : null}
        </span>
      )
  },
  { id: 'status', header: 'Status', width: 'shrink', cell: (set) => <SetStatus set={set} /> },
  {
    id: 'count',
    header: 'Products',
    width: 'shrink',
    align: 'end',
    cell: (set) => <span className="num">{membersOf(set)}</span>
  }
]

export function Sets({ catalog }: { catalog: CatalogAt }) {
  const list = useInfiniteQuery({
    ...setPages(catalog),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some((set) => set.processing_status === 'PROCESSING')) ? LIVE_MS : false
  })
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const create = (
    <Link className="button primary" to="/catalog/$catalogId/sets/new" params={{ catalogId: catalog.id }}>
      Create a set
    </Link>
  )
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <Loading what="sets" />
  if (rows.length === 0)
    return (
      <Empty icon="filter" title="No sets yet" action={create}>
        A set is the part of the catalog that a campaign shows: all products that filters match, now and later, or up to
        50 that you pick.
      </Empty>
    )
  return (
    <div className="stack">
      <div>{create}</div>
      <Table rows={rows} columns={columnsFor(catalog)} keyOf={({ id }) => id} label="Product sets" />
      {list.hasNextPage ? (
        <div>
          <Button busy={list.isFetchingNextPage && 'Loading …'} onClick={() => void list.fetchNextPage()}>
            Show more
          </Button>
        </div>
      ) : null}
    </div>
  )
}
