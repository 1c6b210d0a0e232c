/** Who changed what and when, newest first, with before and after. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiProblem, ask } from '../../client/api.ts'
import { type User, usersQuery } from '../../client/resources.ts'
import { usePerson } from '../../client/session.ts'
import { Badge, Empty, Loading, Problem, Time, type Tone } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { say, sayProblem } from '../../ui/overlays.tsx'
import { money } from './money.ts'
import { type Campaign, type Change, historyQuery, type LineItem } from './queries.ts'
import { useScope } from './scope.tsx'
import { criterionName, typeName } from './targeting-words.ts'
import { fieldName, isMoney, isTime, word } from './words.ts'

type Props = { entity: 'CAMPAIGN'; of: Campaign } | { entity: 'LINE_ITEM'; of: LineItem }

export function History({ entity, of }: Props) {
  const scope = useScope()
  const { user, operator } = usePerson()
  const list = useInfiniteQuery({ ...historyQuery(scope, entity, of), refetchInterval: 15_000 })
  const { data: users } = useQuery({ ...usersQuery, enabled: operator })
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  // The API tells the oldest first; people want the newest.
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  if (list.error instanceof ApiProblem && list.error.faults.some(({ code }) => code === 'FEATURE_NOT_AVAILABLE'))
    return <NotKept operator={operator} />
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <Loading what="the history" />
  const changes = list.data.pages.flatMap((page) => page.data).reverse()
  if (changes.length === 0) return <Empty icon="clock" title="Nothing is recorded yet" />
  const nameOf = (id: string) => whoIs(id, user, users)
  return (
    <ol className="timeline history" aria-label="History">
      {changes.map((change, at) => (
        <ChangeEntry
          // biome-ignore lint/suspicious/noArrayIndexKey: changes have no id, and the list only grows at its beginning
          key={changes.length - at}
          change={change}
          currency={of.currency}
          who={nameOf(change.change_by.user_id)}
        />
      ))}
    </ol>
  )
}

function whoIs(id: string, me: { id: string } | null, users: User[] | undefined) {
  if (id === me?.id) return 'you'
  if (id === '0') return 'the operator'
  const known = users?.find((each) => each.id === id)
  return known ? `@${known.username}` : `user ${id}`
}

const LOOKS: Record<Change['change_type'], { icon: IconName; tone: Tone }> = {
  CREATE: { icon: 'plus', tone: 'good' },
  UPDATE: { icon: 'edit', tone: 'plain' },
  DELETE: { icon: 'cross', tone: 'bad' }
}
const PLATFORMS: Record<string, string> = {
  CONSOLE: 'in the console',
  OPERATOR: 'as operator',
  API_OTHER: 'through the API'
}

interface EntryProps {
  change: Change
  currency: string
  who: string
}

function ChangeEntry({ change, currency, who }: EntryProps) {
  const { icon, tone } = LOOKS[change.change_type]
  const fields = Object.entries(change.changes).filter(([name]) => name !== 'deleted')
  return (
    <li>
      <span className={`mark ${tone}`}>
        <Icon name={icon} size={12} />
      </span>
      <div className="stack tight">
        <div className="row wrap spread">
          <span className="row wrap">
            <strong>{titleOf(change, fields)}</strong>
            <span className="muted">
              by {who} {PLATFORMS[change.change_by.platform] ?? ''}
            </span>
          </span>
          <Time iso={change.change_time} form="full" />
        </div>
        {change.change_type === 'UPDATE' && fields.length > 0 ? (
          <dl className="changes">
            {fields.map(([name, { from, to }]) => (
              <div key={name}>
                <dt>{fieldName(name)}</dt>
                <dd>
                  <del>
                    <span className="visually-hidden">before: </span>
                    <Value name={name} value={from} currency={currency} />
                  </del>
                  <Icon name="right" size={12} />
                  <ins>
                    <span className="visually-hidden">after: </span>
                    <Value name={name} value={to} currency={currency} />
                  </ins>
                </dd>
              </div>
            ))}
          </dl>
        ) : null}
      </div>
    </li>
  )
}

const VERBS = { CREATE: 'Created', UPDATE: 'Changed', DELETE: 'Deleted' }
const ADDED = { CREATE: 'added', UPDATE: 'changed', DELETE: 'taken away' }

function titleOf({ entity, change_type, entity_data }: Change, fields: [string, unknown][]) {
  if (entity === 'TARGETING_CRITERIA') {
    const { targeting_type, name, targeting_value, operator_type } = entity_data as Record<string, string>
    const not = operator_type === 'NE' ? 'not ' : ''
    const what = criterionName({
      targeting_type: targeting_type!,
      targeting_value: targeting_value!,
      name: name ?? null
    })
    return `${typeName(targeting_type!)}: ${not}${what} ${ADDED[change_type]}`
  }
  if (entity === 'PROMOTED_TWEET') return `Post ${entity_data.tweet_id} ${ADDED[change_type]}`
  if (entity === 'PROMOTED_ACCOUNT') return `Promoted account ${entity_data.user_id} ${ADDED[change_type]}`
  if (change_type !== 'UPDATE') return VERBS[change_type]
  return `${VERBS.UPDATE} ${fields.map(([name]) => fieldName(name).toLowerCase()).join(', ')}`
}

function Value({ name, value, currency }: { name: string; value: unknown; currency: string }) {
  if (value === null || value === undefined || value === '') return <span className="muted">nothing</span>
  if (isMoney(name)) return <span className="num">{money(Number(value), currency)}</span>
  if (isTime(name)) return <Time iso={String(value)} form="full" />
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>
  if (Array.isArray(value))
    return <>{value.length === 0 ? 'none' : value.map((each) => word(String(each))).join(', ')}</>
  const text = String(value)
  return /^[A-Z][A-Z0-9_]+$/.test(text) ? <Badge>{word(text)}</Badge> : text
}

/** The document calls it a beta: the operator lets accounts take part. */
function NotKept({ operator }: { operator: boolean }) {
  const scope = useScope()
  const client = useQueryClient()
  const allow = useMutation({
    mutationFn: () =>
      ask('PUT', '/admin/allow_lists', {
        body: { list: 'account_history', subject_kind: 'account', subject_id: scope.accountId }
      }),
    onSuccess: async () => {
      await client.resetQueries({ queryKey: ['ads', scope.listener, scope.accountId, '/account_history'] })
      say('The history can be read')
    },
    onError: sayProblem
  })
  return (
    <Empty
      icon="clock"
      title="This account may not read its history yet"
      action={
        operator ? (
          <Button variant="primary" busy={allow.isPending && 'Allowing …'} onClick={() => allow.mutate()}>
            Let this account read it
          </Button>
        ) : null
      }
    >
      Account history is a beta. Every change is recorded all the same; the operator of this server lets accounts read
      it.
    </Empty>
  )
}
