/** The catalogs that a person may act on: their own, and those of others who let them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import { compact, plural } from '../../client/format.ts'
import { adsPath, type Listener, useListener } from '../../client/listener.ts'
import { usePerson } from '../../client/session.ts'
import { Badge, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { problemFor, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { catalogsQuery, type Figures } from './api.ts'
import { Frame, Refusal } from './frame.tsx'
import { RunBadge } from './run-badge.tsx'

export function CatalogsPage() {
  const listener = useListener()
  const { operator, user } = usePerson()
  const [creating, setCreating] = useState(false)
  const catalogs = useQuery({ ...catalogsQuery(listener), enabled: user !== null, retry: false })
  const mine = catalogs.data?.some(({ delegated }) => !delegated)
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create a catalog
    </Button>
  )
  return (
    <Frame>
      <Page
        title="Catalogs"
        lead="Products that ads are made of, how they get here, and sets of them."
        actions={
          <>
            {operator ? (
              <Link className="button" to="/catalog/imports">
                All imports
              </Link>
            ) : null}
            {mine === false && catalogs.data!.length > 0 ? create : null}
          </>
        }
      >
        {!user || catalogs.error ? (
          <Refusal error={catalogs.error} retry={() => void catalogs.refetch()} />
        ) : !catalogs.data ? (
          <Loading what="catalogs" />
        ) : catalogs.data.length === 0 ? (
          <Empty icon="catalog" title={`No catalog in ${listener} yet`} action={create}>
            A catalog holds all your products. They come from a file that Herald fetches on a schedule, from the API, or
            from a form here.
          </Empty>
        ) : (
          <ul className="catalog-cards">
            {catalogs.data.map((catalog) => (
              <CatalogCard key={catalog.id} catalog={catalog} />
            ))}
          </ul>
        )}
        <CreateDialog open={creating} onClose={() => setCreating(false)} listener={listener} />
      </Page>
    </Frame>
  )
}

export const productCount = ({ product_count, counted_to_end }: Figures) =>
  counted_to_end ? compact(product_count) : `about ${compact(product_count)}`

const CatalogCard = ({ catalog }: { catalog: Figures }) => (
  <li className="card catalog-card">
    <div className="row spread wrap">
      <h2>
        <Link to="/catalog/$catalogId" params={{ catalogId: catalog.id }}>
          {catalog.name}
        </Link>
      </h2>
      {catalog.delegated ? <Badge tone="accent">of @{catalog.username}</Badge> : null}
    </div>
    <dl className="figures">
      <div>
        <dt>Products</dt>
        <dd>{productCount(catalog)}</dd>
      </div>
      <div>
        <dt>Sets</dt>
        <dd>{compact(catalog.product_set_count)}</dd>
      </div>
      <div>
        <dt>Image issues</dt>
        <dd className={catalog.image_issue_count > 0 ? 'warn' : ''}>
          {compact(catalog.image_issue_count)}
          {catalog.image_issue_count >= 10_000 ? '+' : ''}
        </dd>
      </div>
    </dl>
    <div className="row wrap small muted">
      {catalog.last_run_state && catalog.last_run_at ? (
        <>
          <RunBadge state={catalog.last_run_state} /> imported <Time iso={catalog.last_run_at} form="relative" />
        </>
      ) : catalog.scheduled_feed_id ? (
        'A feed that has not run yet'
      ) : (
        'No feed'
      )}
    </div>
  </li>
)

function CreateDialog(props: { open: boolean; onClose: () => void; listener: Listener }) {
  return (
    <Dialog
      {...props}
      title="Create a catalog"
      about={`One per user, in ${props.listener}. Its name can be changed at any time.`}
    >
      <NameForm
        action="Create"
        busy="Creating …"
        onClose={props.onClose}
        save={(name) => ask<{ id: string }>('POST', adsPath(props.listener, '/product_catalogs'), { body: { name } })}
        goThere
      />
    </Dialog>
  )
}

/** Creates a catalog, or gives one another name. */
export function NameForm({
  was = '',
  action,
  busy,
  onClose,
  save,
  goThere
}: {
  was?: string
  action: string
  busy: string
  onClose: () => void
  save: (name: string) => Promise<{ id: string }>
  goThere?: boolean
}) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState(was)
  const saving = useMutation({
    mutationFn: () => save(name),
    onSuccess: async ({ id }) => {
      await Promise.all(['catalogs', 'catalog'].map((key) => client.invalidateQueries({ queryKey: [key] })))
      say(goThere ? `${name} is created` : `The catalog is now called ${name}`)
      onClose()
      if (goThere) await navigate({ to: '/catalog/$catalogId', params: { catalogId: id } })
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  const problem = problemFor(saving.error, 'name')
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <TextField
        label="Name"
        value={name}
        onChange={({ target }) => setName(target.value)}
        placeholder="Autumn collection"
        autoComplete="off"
        required
        problem={problem}
      />
      {saving.error && !problem ? <Problem error={saving.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={saving.isPending && busy}>
          {action}
        </Button>
      </div>
    </form>
  )
}

export const someProducts = (catalog: Figures) =>
  catalog.counted_to_end ? plural(catalog.product_count, 'product') : `${productCount(catalog)} products`
