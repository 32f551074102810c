import type { Overview } from '../../api/admin-types.ts'
import { BarChart } from '../../components/bar-chart.tsx'
import { countColumn } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { counted } from '../../core/plural.ts'
import { absoluteTime, clockTime, unixSecondsOf } from '../../core/time.ts'
import { settings } from '../../state/settings.ts'
import { useStore } from '../../state/store.ts'

type Minute = NonNullable<Overview['traffic']>['minutes'][number]

const HOURS_AND_MINUTES = 'hh:mm'.length

/** A bar for each minute, its errors at the bottom; the numbers are also in a table that opens below. */
export function RequestsByMinute({ minutes }: { readonly minutes: readonly Minute[] }) {
  const { zone } = useStore(settings)
  const timeOf = (at: string) => clockTime(unixSecondsOf(at), zone).slice(0, HOURS_AND_MINUTES)
  const total = (count: (minute: Minute) => number) => minutes.reduce((sum, minute) => sum + count(minute), 0)
  const requests = total((minute) => minute.requests)
  const errors = total((minute) => minute.errors)
  const sentence = `${counted(requests, 'request')} in ${counted(minutes.length, 'minute')}, ${errors} failed`
  const bars = minutes.map(({ at, requests: count, errors: bad }) => ({
    ...{ label: timeOf(at), value: Math.max(count, bad), bad },
    words: `${timeOf(at)}: ${counted(count, 'request')}, ${bad} failed`,
  }))
  return (
    <section class="card" aria-label="Requests by minute">
      <div class="card-head">
        <h2>Requests by minute</h2>
        <span class="hint">{sentence}</span>
      </div>
      <BarChart sentence={sentence} bars={bars} isCount />
      <details class="as-table">
        <summary>Show as table</summary>
        <PlainTable
          caption="Requests by minute"
          columns={columns((at) => absoluteTime(unixSecondsOf(at), zone))}
          rows={minutes.toReversed()}
          rowKey={({ at }) => at}
          exportName={['requests', 'by', 'minute']}
        />
      </details>
    </section>
  )
}

function columns(shown: (at: string) => string): readonly TableColumn<Minute>[] {
  return [
    { id: 'minute', title: 'Minute', value: ({ at }) => at, cell: ({ at }) => shown(at) },
    countColumn({ id: 'requests', title: 'Requests' }, ({ requests }) => requests),
    countColumn({ id: 'errors', title: 'Failed' }, ({ errors }) => errors),
  ]
}
