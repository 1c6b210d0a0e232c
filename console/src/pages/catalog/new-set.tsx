/** Makes a set, from nothing or from the filters of another. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Loading } from '../../ui/bits.tsx'
import { say } from '../../ui/overlays.tsx'
import { setQuery, useCatalog } from './api.ts'
import { CatalogFrame } from './catalog.tsx'
import { Refusal } from './frame.tsx'
import { BLANK, SetForm } from './set-form.tsx'

const route = getRouteApi('/shell/catalog/$catalogId/sets/new')

export function NewSetPage() {
  const { catalogId } = route.useParams()
  const { from } = route.useSearch()
  const navigate = route.useNavigate()
  const catalog = useCatalog(catalogId)
  const other = useQuery({ ...setQuery(catalog, from ?? ''), enabled: from !== undefined })
  const start = other.data
    ? {
        ...BLANK,
        name: `${other.data.name} (copy)`,
        description: other.data.description ?? '',
        filters: other.data.filters
      }
    : BLANK
  return (
    <CatalogFrame catalog={catalog} title="New product set">
      {other.error ? (
        <Refusal error={other.error} />
      ) : from !== undefined && !other.data ? (
        <Loading what="the set" />
      ) : (
        <SetForm
          key={from ?? ''}
          catalog={catalog}
          start={start}
          onCancel={() => void navigate({ to: '/catalog/$catalogId', params: { catalogId }, search: { tab: 'sets' } })}
          onDone={(set) => {
            say(`${set.name} is created`)
            return navigate({ to: '/catalog/$catalogId/sets/$setId', params: { catalogId, setId: set.id } })
          }}
        />
      )}
    </CatalogFrame>
  )
}
