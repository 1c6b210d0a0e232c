/** One catalog: its products, what is wrong with their images, its sets and its feed. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ask } from '../../client/api.ts'
import { compact } from '../../client/format.ts'
import { Badge, CopyButton, Loading } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog, Menu, say } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { type CatalogAt, type Figures, figuresQuery, useCatalog } from './api.ts'
import { NameForm, productCount, someProducts } from './catalogs.tsx'
import { FeedTab } from './feed.tsx'
import { Frame, Refusal } from './frame.tsx'
import { ImageIssues } from './image-issues.tsx'
import { Products } from './products.tsx'
import { Sets } from './sets.tsx'

const route = getRouteApi('/shell/catalog/$catalogId')

/** A page below a catalog; it knows the name of what it belongs to. */
export function CatalogFrame({
  catalog,
  title,
  lead,
  actions,
  children
}: {
  catalog: CatalogAt
  title: string
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const { data } = useQuery(figuresQuery(catalog))
  return (
    <Frame>
      <Page
        title={title}
        lead={lead}
        actions={actions}
        above={
          <>
            <Link to="/catalog">Catalogs</Link>
            <span aria-hidden="true">/</span>
            <Link to="/catalog/$catalogId" params={{ catalogId: catalog.id }}>
              {data?.name ?? 'Catalog'}
            </Link>
          </>
        }
      >
        {children}
      </Page>
    </Frame>
  )
}

export function CatalogPage() {
  const { catalogId } = route.useParams()
  const { tab = 'products' } = route.useSearch()
  const navigate = route.useNavigate()
  const catalog = useCatalog(catalogId)
  const figures = useQuery({ ...figuresQuery(catalog), retry: false })
  const above = <Link to="/catalog">Catalogs</Link>
  if (!figures.data)
    return (
      <Frame>
        <Page title="Catalog" above={above}>
          {figures.error ? (
            <Refusal error={figures.error} retry={() => void figures.refetch()} />
          ) : (
            <Loading what="the catalog" />
          )}
        </Page>
      </Frame>
    )
  const { data } = figures
  const issues = data.image_issue_count
  return (
    <Frame>
      <Page
        title={data.name}
        above={above}
        lead={
          <span className="row wrap">
            {data.delegated ? <Badge tone="accent">of @{data.username}</Badge> : null}
            <span>{someProducts(data)}</span>
            <span className="row">
              id <code>{data.id}</code>
              <CopyButton text={data.id} label="Copy the id" />
            </span>
          </span>
        }
        actions={<Actions catalog={catalog} figures={data} />}
      >
        <Tabs
          label="About this catalog"
          tabs={[
            ['products', `Products · ${productCount(data)}`],
            ['issues', `Image issues${issues > 0 ? ` · ${compact(issues)}${issues >= 10_000 ? '+' : ''}` : ''}`],
            ['sets', `Sets · ${compact(data.product_set_count)}`],
            ['feed', 'Feed']
          ]}
          value={tab}
          onChange={(next) => void navigate({ search: { tab: next === 'products' ? undefined : next } })}
        >
          {tab === 'products' ? <Products key={catalog.listener} catalog={catalog} figures={data} /> : null}
          {tab === 'issues' ? <ImageIssues catalog={catalog} /> : null}
          {tab === 'sets' ? <Sets catalog={catalog} /> : null}
          {tab === 'feed' ? <FeedTab catalog={catalog} /> : null}
        </Tabs>
      </Page>
    </Frame>
  )
}

function Actions({ catalog, figures }: { catalog: CatalogAt; figures: Figures }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'name' | 'delete'>()
  return (
    <>
      <Link className="button" to="/catalog/$catalogId/check" params={{ catalogId: catalog.id }}>
        Try a feed file
      </Link>
      <Link
        className="button primary"
        to="/catalog/$catalogId"
        params={{ catalogId: catalog.id }}
        search={{ product: 'new' }}
      >
        Add a product
      </Link>
      <Menu
        trigger={<Button icon="more" aria-label="More" />}
        entries={[
          { label: 'Rename …', icon: 'edit', onSelect: () => setDialog('name') },
          'separator',
          { label: 'Delete the catalog …', icon: 'trash', danger: true, onSelect: () => setDialog('delete') }
        ]}
      />
      <Dialog open={dialog === 'name'} onClose={() => setDialog(undefined)} title="Rename the catalog">
        <NameForm
          was={figures.name}
          action="Rename"
          busy="Renaming …"
          onClose={() => setDialog(undefined)}
          save={(name) => ask<{ id: string }>('PUT', catalog.path(), { body: { name } })}
        />
      </Dialog>
      <Confirm
        open={dialog === 'delete'}
        onClose={() => setDialog(undefined)}
        title={`Delete ${figures.name}?`}
        action="Delete everything"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', catalog.path())
          await navigate({ to: '/catalog' })
          client.removeQueries({ queryKey: catalog.key() })
          await client.invalidateQueries({ queryKey: ['catalogs'] })
          say(`${figures.name} is deleted`)
        }}
      >
        The catalog in {catalog.listener} goes with {someProducts(figures)}, all its sets, its feed and the reports of
        its imports. This cannot be undone.
      </Confirm>
    </>
  )
}
