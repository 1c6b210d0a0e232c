/** One set: what it is, and the products in it. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { ask } from '../../client/api.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { Badge, Callout, CopyButton, Empty, Loading, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog, say } from '../../ui/overlays.tsx'
import { type CatalogAt, memberPages, type ProductSet, setQuery, useCatalog } from './api.ts'
import { CatalogFrame } from './catalog.tsx'
import { inWords } from './filters.ts'
import { Refusal } from './frame.tsx'
import { ProductDrawer } from './product.tsx'
import { BLANK, SetForm } from './set-form.tsx'
import { membersOf, SetStatus } from './sets.tsx'
import { Tiles } from './tiles.tsx'

const route = getRouteApi('/shell/catalog/$catalogId/sets/$setId')

export function SetPage() {
  const { catalogId, setId } = route.useParams()
  const catalog = useCatalog(catalogId)
  const set = useQuery({
    ...setQuery(catalog, setId),
    refetchInterval: ({ state: { data } }) => (data?.processing_status === 'PROCESSING' ? LIVE_MS : false)
  })
  if (!set.data)
    return (
      <CatalogFrame catalog={catalog} title="Product set">
        {set.error ? <Refusal error={set.error} retry={() => void set.refetch()} /> : <Loading what="the set" />}
      </CatalogFrame>
    )
  return <OneSet catalog={catalog} set={set.data} />
}

function OneSet({ catalog, set: data }: { catalog: CatalogAt; set: ProductSet }) {
  const whole = useQuery({ ...setQuery(catalog, data.id, 10_000_000), enabled: data.counted_to_end === false })
  const counted = whole.data ?? data
  return (
    <CatalogFrame
      catalog={catalog}
      title={data.name}
      lead={
        <span className="row wrap">
          <SetStatus set={data} />
          {data.description ? <span>{data.description}</span> : null}
          <span className="row">
            id <code>{data.id}</code>
            <CopyButton text={data.id} label="Copy the id" />
          </span>
        </span>
      }
      actions={<Actions catalog={catalog} set={counted} />}
    >
      <div className="stack">
        {data.processing_status === 'PROCESSING' ? (
          <Callout tone="accent" role="status">
            The set is being computed, 100,000 products at a time; what is found so far is below. This page follows by
            itself.
          </Callout>
        ) : null}
        {data.processing_status === 'FAILED' ? (
          <Callout tone="bad">
            Computing the set failed three times. Make a copy of it; the log of the server says why.
          </Callout>
        ) : null}
        <div className="row wrap">
          <strong className="num">{membersOf(counted)}</strong>
          {data.type === 'MANUAL' ? (
            'products that were picked by hand'
          ) : (
            <>
              products of which all of this holds:
              {data.filters.map((filter) => (
                <Badge key={JSON.stringify(filter)} tone="accent">
                  {inWords(filter)}
                </Badge>
              ))}
            </>
          )}
        </div>
        <Members catalog={catalog} set={data} />
      </div>
    </CatalogFrame>
  )
}

function Members({ catalog, set }: { catalog: CatalogAt; set: ProductSet }) {
  const { product } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(memberPages(catalog, set.id))
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <Loading what="products" />
  if (rows.length === 0)
    return (
      <Empty icon="filter" title="No product is in this set">
        {set.type === 'FILTERED'
          ? 'Products join by themselves as soon as they match the filters.'
          : 'The products it had were deleted. Edit the set to pick others.'}
      </Empty>
    )
  return (
    <>
      <Tiles
        catalog={catalog}
        products={rows}
        label="Products of the set"
        onEnd={more}
        link={(each, content) => (
          <Link
            className="product-tile"
            from="/catalog/$catalogId/sets/$setId"
            to="."
            search={(was) => ({ ...was, product: each.product_key })}
            resetScroll={false}
          >
            {content}
          </Link>
        )}
      />
      <ProductDrawer
        catalog={catalog}
        productKey={product}
        onClose={() => void navigate({ search: ({ product: _, ...was }) => was, resetScroll: false })}
      />
    </>
  )
}

function Actions({ catalog, set }: { catalog: CatalogAt; set: ProductSet }) {
  const client = useQueryClient()
  const navigate = route.useNavigate()
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const close = () => setDialog(undefined)
  return (
    <>
      {set.type === 'MANUAL' ? (
        <Button icon="edit" onClick={() => setDialog('edit')}>
          Edit …
        </Button>
      ) : (
        <Link
          className="button"
          to="/catalog/$catalogId/sets/new"
          params={{ catalogId: catalog.id }}
          search={{ from: set.id }}
          title="The filters of a set stay as they are; a copy can have others."
        >
          Copy with other filters
        </Link>
      )}
      <Button icon="trash" onClick={() => setDialog('delete')}>
        Delete …
      </Button>
      <Dialog open={dialog === 'edit'} onClose={close} title="Edit the set" wide>
        <EditSet catalog={catalog} set={set} onClose={close} />
      </Dialog>
      <Confirm
        open={dialog === 'delete'}
        onClose={close}
        title={`Delete ${set.name}?`}
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', catalog.path(`/product_sets/${set.id}`))
          await navigate({ to: '/catalog/$catalogId', params: { catalogId: catalog.id }, search: { tab: 'sets' } })
          await client.invalidateQueries({ queryKey: catalog.key() })
          say(`${set.name} is deleted`)
        }}
      >
        Its {membersOf(set)} products stay in the catalog. Campaigns that show this set lose it. This cannot be undone.
      </Confirm>
    </>
  )
}

/** At most fifty products, so the first page has them all. */
function EditSet({ catalog, set, onClose }: { catalog: CatalogAt; set: ProductSet; onClose: () => void }) {
  const members = useInfiniteQuery(memberPages(catalog, set.id))
  if (!members.data) return <Loading what="its products" />
  return (
    <SetForm
      catalog={catalog}
      start={{
        ...BLANK,
        id: set.id,
        name: set.name,
        description: set.description ?? '',
        type: 'MANUAL',
        picked: members.data.pages[0]?.data ?? []
      }}
      onCancel={onClose}
      onDone={async () => {
        onClose()
        say('The set is saved')
      }}
    />
  )
}
