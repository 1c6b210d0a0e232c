/** A dry run of a file before anything depends on it: from this computer, or from an address. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type DragEvent, type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import { bytes } from '../../client/format.ts'
import { Card, Problem, Segmented } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { problemFor, SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type FeedRun, feedQuery, useCatalog } from './api.ts'
import { CatalogFrame } from './catalog.tsx'
import { beginningOf, formatOf } from './feed-file.ts'

const route = getRouteApi('/shell/catalog/$catalogId/check')
const FORMATS = ['CSV', 'TSV', 'XML'].map((each) => [each, each] as const)

export function CheckPage() {
  const { catalogId } = route.useParams()
  const { url: given } = route.useSearch()
  const navigate = route.useNavigate()
  const catalog = useCatalog(catalogId)
  const { data: feed } = useQuery(feedQuery(catalog))
  const [source, setSource] = useState<'file' | 'url'>(given === undefined ? 'file' : 'url')
  const [file, setFile] = useState<File>()
  const [url, setUrl] = useState(given ?? '')
  const [format, setFormat] = useState('CSV')
  const check = useMutation({
    mutationFn: async () => {
      const path = catalog.path('/feed_checks')
      if (source === 'url')
        return { run: await ask<FeedRun>('POST', path, { body: { feed_url: url, feed_format: format } }) }
      if (!file) throw new Error('Choose a file first.')
      const { text, isWhole } = await beginningOf(file, format)
      const run = await ask<FeedRun>('POST', path, { body: { sample: text, feed_format: format } })
      return { run, of: isWhole ? undefined : file.size }
    },
    onSuccess: ({ run, of }) =>
      navigate({
        to: '/catalog/$catalogId/checks/$runId',
        params: { catalogId, runId: run.id },
        search: of === undefined ? {} : { of: String(of) }
      })
  })
  const choose = (chosen: File | undefined) => {
    setFile(chosen)
    const known = chosen && formatOf(chosen.name)
    if (known) setFormat(known)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    check.mutate()
  }
  const problem = problemFor(check.error, 'feed_url')
  return (
    <CatalogFrame
      catalog={catalog}
      title="Try a feed file"
      lead="Says what an import would say, row by row, against the catalog as it is. Nothing is changed."
    >
      <form style={{ maxWidth: '46rem' }} onSubmit={submit}>
        <Card>
          <div className="stack">
            <Segmented
              label="Where the file is"
              value={source}
              onChange={setSource}
              options={[
                ['file', 'On this computer'],
                ['url', 'At an address']
              ]}
            />
            {source === 'file' ? (
              <DropZone file={file} onChoose={choose} />
            ) : (
              <TextField
                label="Address of the file"
                value={url}
                onChange={({ target }) => {
                  setUrl(target.value)
                  const known = formatOf(target.value)
                  if (known) setFormat(known)
                }}
                placeholder={feed?.feed_url ?? 'https://shop.example.com/products.csv'}
                inputMode="url"
                autoComplete="off"
                spellCheck={false}
                required
                problem={problem}
              />
            )}
            <SelectField
              label="Format"
              value={format}
              onChange={({ target }) => setFormat(target.value)}
              choices={FORMATS}
            />
            {check.error && !problem ? <Problem error={check.error} /> : null}
            <div className="actions">
              <Button
                type="submit"
                variant="primary"
                busy={check.isPending && (source === 'file' ? 'Reading the file …' : 'Asking …')}
              >
                Check it
              </Button>
            </div>
          </div>
        </Card>
      </form>
    </CatalogFrame>
  )
}

function DropZone({ file, onChoose }: { file: File | undefined; onChoose: (file: File | undefined) => void }) {
  const [over, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onChoose(event.dataTransfer.files[0])
  }
  return (
    <label
      className="drop-zone"
      data-over={over ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={24} />
      {file ? (
        <span>
          <strong>{file.name}</strong>, {bytes(file.size)}
        </span>
      ) : (
        <span>
          <strong>Choose a file</strong> or drop it here
        </span>
      )}
      <span className="muted small">CSV, TSV or XML in UTF-8, also packed as .gz</span>
      <input
        type="file"
        className="visually-hidden"
        aria-label="Feed file"
        accept=".csv,.tsv,.txt,.xml,.rss,.gz"
        onChange={({ target }) => onChoose(target.files?.[0])}
      />
    </label>
  )
}
