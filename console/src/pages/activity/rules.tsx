/** Filtered-stream rules of an app: written with help, tried on a post, and where matching posts go. */
import './rules.css'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, request } from '../../client/api.ts'
import { plural } from '../../client/format.ts'
import { type App, webhooksQuery } from '../../client/resources.ts'
import { Badge, Card, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/fields.tsx'
import { Confirm, say, sayProblem } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { linksQuery, type Rule, rulesQuery } from './queries.ts'
import { RuleEditor } from './rule-editor.tsx'
import { SAMPLE_POST, SamplePost } from './sample-post.tsx'

export function Rules({ app }: { app: App }) {
  const client = useQueryClient()
  const rules = useQuery(rulesQuery(app.id))
  const [post, setPost] = useState(SAMPLE_POST)
  const [matching, setMatching] = useState<ReadonlySet<string>>()
  const [deleting, setDeleting] = useState<Rule>()
  const list = rules.data?.data ?? []
  const columns: Column<Rule>[] = [
    {
      id: 'value',
      header: 'Rule',
      cell: ({ id, value }) => (
        <span className="row wrap">
          <code className="rule-value">{value}</code>
          {matching?.has(id) ? <Badge tone="good">matches the sample</Badge> : null}
        </span>
      )
    },
    { id: 'tag', header: 'Tag', width: 'shrink', cell: ({ tag }) => tag ?? <span className="muted">–</span> },
    {
      id: 'delete',
      header: '',
      width: 'shrink',
      cell: (rule) => (
        <Button
          variant="ghost"
          size="small"
          icon="trash"
          aria-label={`Delete the rule ${rule.value}`}
          onClick={() => setDeleting(rule)}
        />
      )
    }
  ]
  return (
    <div className="rules-page">
      <div className="stack">
        <RuleEditor app={app} post={post} />
        <Card title={rules.data ? plural(list.length, 'rule') : 'Rules'} bare>
          {rules.error ? <Problem error={rules.error} retry={() => void rules.refetch()} /> : null}
          {rules.isPending ? (
            <div className="body">
              <Loading what="rules" />
            </div>
          ) : list.length === 0 ? (
            <Empty icon="filter" title="No rules yet">
              A post that fits any of the rules is delivered. Write one above; it is checked while you type.
            </Empty>
          ) : (
            <Table rows={list} columns={columns} keyOf={({ id }) => id} label="Filtered-stream rules" />
          )}
        </Card>
      </div>
      <div className="stack">
        <SamplePost app={app} value={post} onChange={setPost} onTried={setMatching} />
        <Links app={app} />
      </div>
      <Confirm
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title="Delete this rule?"
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          await request('POST', '/2/tweets/search/stream/rules', {
            app: app.id,
            body: { delete: { ids: [deleting!.id] } }
          })
          await client.invalidateQueries(rulesQuery(app.id))
          say('The rule is deleted')
        }}
      >
        Posts that only fit <code>{deleting?.value}</code> are no longer delivered.
      </Confirm>
    </div>
  )
}

/** The webhooks that matching posts are sent to. */
function Links({ app }: { app: App }) {
  const client = useQueryClient()
  const links = useQuery(linksQuery(app.id))
  const { data: webhooks } = useQuery(webhooksQuery({ app_id: app.id }))
  const changed = () => client.invalidateQueries(linksQuery(app.id))
  const linked = links.data?.links ?? []
  const free = (webhooks?.data ?? []).filter(({ id }) => !linked.some((link) => link.webhook_id === id))
  const [chosen, setChosen] = useState('')
  const link = useMutation({
    mutationFn: (id: string) => ask('POST', `/2/tweets/search/webhooks/${id}`, { app: app.id }),
    onSuccess: changed,
    onError: sayProblem
  })
  const unlink = useMutation({
    mutationFn: (id: string) => ask('DELETE', `/2/tweets/search/webhooks/${id}`, { app: app.id }),
    onSuccess: changed,
    onError: sayProblem
  })
  const target = free.find(({ id }) => id === chosen)?.id ?? free[0]?.id
  return (
    <Card title="Where matching posts go">
      <div className="stack">
        {links.error ? <Problem error={links.error} /> : null}
        {linked.length === 0 ? (
          <p className="muted">Only to open streams. Link a webhook to have them delivered.</p>
        ) : (
          <ul className="stack tight">
            {linked.map(({ webhook_id, created_at }) => (
              <li key={webhook_id} className="row spread">
                <Link to="/webhooks/$webhookId" params={{ webhookId: webhook_id }} className="ellipsis">
                  {webhooks?.data.find(({ id }) => id === webhook_id)?.url.replace(/^https:\/\//, '') ?? webhook_id}
                </Link>
                <span className="row small muted">
                  <Time iso={created_at} form="relative" />
                  <Button
                    variant="ghost"
                    size="small"
                    disabled={unlink.isPending}
                    onClick={() => unlink.mutate(webhook_id)}
                  >
                    Unlink
                  </Button>
                </span>
              </li>
            ))}
          </ul>
        )}
        {target ? (
          <div className="row wrap">
            <Select
              label="Webhook"
              value={target}
              onChange={({ target: { value } }) => setChosen(value)}
              choices={free.map(({ id, url }) => [id, url.replace(/^https:\/\//, '')])}
            />
            <Button icon="link" busy={link.isPending && 'Linking …'} onClick={() => link.mutate(target)}>
              Link
            </Button>
          </div>
        ) : null}
      </div>
    </Card>
  )
}
