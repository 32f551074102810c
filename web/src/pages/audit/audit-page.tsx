import { useState } from 'preact/hooks'
import { useAdminList } from '../../api/admin-query.ts'
import type { AuditRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { exported, timeColumn } from '../../components/columns.tsx'
import { Id } from '../../components/copy.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar, TextFilter } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { changedFields } from '../../core/change-summary.ts'
import { dayTimes } from '../../core/time.ts'
import { useUrlFilters } from '../../state/url-filters.ts'
import { AuditSheet } from './audit-sheet.tsx'

/** Who changed what, newest first. */
export default function AuditPage() {
  const url = useUrlFilters(['actor', 'target', 'action', 'since', 'until'])
  const [opened, setOpened] = useState<AuditRow | null>(null)
  const { actor, target, action, since = '', until = '' } = url.filters
  const list = useAdminList('/audit', {
    query: { actor, target, action, since: dayTimes(since).start, until: dayTimes(until).end },
  })
  return (
    <Page title="Audit" lead="One row for each effect, written together with it. Secrets are never part of a row.">
      <FilterBar url={url}>
        <TextFilter url={url} name="actor" label="Actor" />
        <TextFilter url={url} name="action" label="Action" placeholder="key create" />
        <TextFilter url={url} name="target" label="Target" placeholder="id" />
        <TextFilter url={url} name="since" label="From (UTC)" type="date" />
        <TextFilter url={url} name="until" label="To (UTC)" type="date" />
      </FilterBar>
      <DataTable
        caption="Audit log"
        columns={auditColumns(setOpened)}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="Nothing has been changed yet">Every change by a command or by this console stands here.</Empty>
        }
        onClearFilters={url.clear}
        exportName={['audit']}
      />
      {opened === null ? null : <AuditSheet row={opened} onClose={() => setOpened(null)} />}
    </Page>
  )
}

function auditColumns(onOpen: (row: AuditRow) => void): readonly TableColumn<AuditRow>[] {
  return [
    timeColumn({ id: 'at', title: 'Time' }, ({ at }) => at),
    { id: 'actor', title: 'Actor', value: ({ actor }) => actor },
    { id: 'role', title: 'Role', value: ({ role }) => role },
    { id: 'action', title: 'Action', value: ({ action }) => action, cell: ({ action }) => <code>{action}</code> },
    {
      id: 'target',
      title: 'Target',
      value: ({ kind, target }) => `${kind} ${target}`,
      cell: ({ kind, target }) => (
        <span class="nowrap">
          {kind} <Id value={target} label={`${kind} id`} />
        </span>
      ),
    },
    {
      id: 'changes',
      title: 'Changes',
      isProse: true,
      value: ({ before, after }) => changeWords({ before, after }),
      cell: (row) => (
        <button type="button" class="link-button" onClick={() => onOpen(row)}>
          {changeWords(row) || <Nothing />}
        </button>
      ),
    },
    exported('Tenant', ({ tenant }) => tenant),
    exported('Request', ({ request_id }) => request_id),
  ]
}

function changeWords({ before, after }: Pick<AuditRow, 'before' | 'after'>): string {
  return changedFields(before, after)
    .map((change) => `${change.field}: ${change.before === '' ? '' : `${change.before} → `}${change.after}`)
    .join(', ')
}
