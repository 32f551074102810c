import type { Overview } from '../../api/admin-types.ts'
import { countColumn } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { counted } from '../../core/plural.ts'
import { absoluteTime, clockTime, unixSecondsOf } from '../../core/time.ts'
import { settings } from '../../state/settings.ts'
import { useStore } from '../../state/store.ts'

type Minute = NonNullable<Overview['traffic']>['minutes'][number]

const HEIGHT = 60

const HOURS_AND_MINUTES = 'hh:mm'.length

/** A bar for each minute, its errors dark at the bottom; the numbers are also in a table that opens below. */
export function RequestsByMinute({ minutes }: { readonly minutes: readonly Minute[] }) {
  const { zone } = useStore(settings)
  const highest = Math.max(1, ...minutes.map(({ requests, errors }) => Math.max(requests, errors)))
  const timeOf = (at: string) => clockTime(unixSecondsOf(at), zone).slice(0, HOURS_AND_MINUTES)
  const total = (count: (minute: Minute) => number) => minutes.reduce((sum, minute) => sum + count(minute), 0)
  const requests = total((minute) => minute.requests)
  const errors = total((minute) => minute.errors)
  const sentence = `${counted(requests, 'request')} in ${counted(minutes.length, 'minute')}, ${errors} failed`
  return (
    <section class="card" aria-label="Requests by minute">
      <div class="card-head">
        <h2>Requests by minute</h2>
        <span class="hint">{sentence}</span>
      </div>
      <p class="bars-top" aria-hidden="true">
        {highest.toLocaleString('en')}
      </p>
      <svg
        class="bars bars-low"
        viewBox={`0 0 ${minutes.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={sentence}
      >
        {minutes.map((minute, index) => (
          <MinuteBar key={minute.at} minute={minute} x={index * 10 + 1.5} highest={highest} time={timeOf(minute.at)} />
        ))}
      </svg>
      <div class="bars-axis" aria-hidden="true">
        {[minutes[0], minutes.at(-1)].map((minute) => (
          <span key={minute?.at}>{minute === undefined ? '' : timeOf(minute.at)}</span>
        ))}
      </div>
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

type MinuteBarProps = {
  readonly minute: Minute
  readonly x: number
  readonly highest: number
  readonly time: string
}

function MinuteBar({ minute: { requests, errors }, x, highest, time }: MinuteBarProps) {
  const bar = (count: number, least: number) => {
    const height = Math.max(least, (count / highest) * (HEIGHT - 2))
    return { x, width: 7, y: HEIGHT - height, height }
  }
  return (
    <g>
      <title>{`${time}: ${counted(requests, 'request')}, ${errors} failed`}</title>
      <rect {...bar(requests, 1)} />
      {errors === 0 ? null : <rect class="bars-errors" {...bar(errors, 2)} />}
    </g>
  )
}

function columns(shown: (at: string) => string): readonly TableColumn<Minute>[] {
  return [
    { id: 'minute', title: 'Minute', value: ({ at }) => at, cell: ({ at }) => shown(at) },
    countColumn({ id: 'requests', title: 'Requests' }, ({ requests }) => requests),
    countColumn({ id: 'errors', title: 'Failed' }, ({ errors }) => errors),
  ]
}
