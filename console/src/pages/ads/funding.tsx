/** Where the money of an account comes from, and whether it can be spent. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { Badge, Empty, Id, Loading, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Menu, say } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { FundingDialog, useAddsFunding } from './funding-form.tsx'
import { money } from './money.ts'
import { type FundingInstrument, fundingQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { Flight } from './tree.tsx'
import { readable } from './words.ts'

const COLUMNS: Column<FundingInstrument>[] = [
  {
    id: 'type',
    header: 'Instrument',
    cell: ({ type, description, id }) => (
      <span className="stack tight" style={{ gap: 0 }}>
        <strong>{readable(type)}</strong>
        <span className="muted small row wrap">
          {description}
          <Id value={id} />
        </span>
      </span>
    )
  },
  {
    id: 'able',
    header: 'Able to fund',
    width: 'shrink',
    cell: ({ able_to_fund, reasons_not_able_to_fund: reasons }) =>
      able_to_fund ? (
        <Badge tone="good" dot>
          Yes
        </Badge>
      ) : (
        <span className="row wrap">
          {reasons.map((reason) => (
            <Badge key={reason} tone="bad">
              {readable(reason)}
            </Badge>
          ))}
        </span>
      )
  },
  { id: 'currency', header: 'Currency', width: 'shrink', cell: ({ currency }) => currency },
  {
    id: 'amount',
    header: 'Limit or amount',
    width: 'shrink',
    align: 'end',
    cell: ({ credit_limit_local_micro: limit, funded_amount_local_micro: funded, currency }) => (
      <span className="num">{money(limit ?? funded, currency)}</span>
    )
  },
  {
    id: 'left',
    header: 'Left',
    width: 'shrink',
    align: 'end',
    cell: ({ credit_remaining_local_micro: left, currency }) => <span className="num">{money(left, currency)}</span>
  },
  {
    id: 'valid',
    header: 'Valid',
    width: 'shrink',
    cell: (row) => <Flight item={row} />
  }
]

export function Funding() {
  const scope = useScope()
  const list = useQuery(fundingQuery(scope, true))
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<FundingInstrument>()
  const adds = useAddsFunding()
  const removes = scope.listener === 'sandbox' && scope.may('campaigns.write')
  const rows = list.data?.data ?? []
  const add = adds ? (
    <Button variant="primary" icon="plus" onClick={() => setAdding(true)}>
      Add a funding instrument
    </Button>
  ) : null
  const columns = removes
    ? [
        ...COLUMNS,
        {
          id: 'more',
          header: '',
          width: 'shrink',
          cell: (row: FundingInstrument) =>
            row.deleted ? null : (
              <Menu
                trigger={
                  <Button
                    variant="ghost"
                    size="small"
                    icon="more"
                    aria-label={`More about ${readable(row.type)} ${row.id}`}
                  />
                }
                entries={[{ label: 'Delete …', icon: 'trash', danger: true, onSelect: () => setRemoving(row) }]}
              />
            )
        }
      ]
    : COLUMNS
  return (
    <div className="stack">
      <div className="row spread wrap">
        <p className="muted grow">
          Every campaign is paid for by one of these.
          {scope.listener === 'sandbox' ? '' : ' In production the operator of this server adds and removes them.'}
        </p>
        {rows.length > 0 ? add : null}
      </div>
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="funding instruments" />
      ) : rows.length === 0 ? (
        <Empty icon="key" title="No funding instrument yet" action={add}>
          {scope.listener === 'sandbox'
            ? 'Add one to create campaigns. In the sandbox it costs nothing.'
            : 'Ask the operator of this server to add one.'}
        </Empty>
      ) : (
        <Table rows={rows} columns={columns} keyOf={({ id }) => id} label="Funding instruments" />
      )}
      <FundingDialog open={adding} onClose={() => setAdding(false)} />
      <Confirm
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title="Delete this funding instrument?"
        action="Delete it"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', scope.at(`/funding_instruments/${removing!.id}`))
          await scope.changed()
          say('The funding instrument is deleted')
        }}
      >
        Every campaign under it stops serving, for good: a campaign cannot change its funding. The campaigns themselves
        are not deleted and can be copied under another instrument.
      </Confirm>
    </div>
  )
}
