import type { Overview } from '../../api/admin-types.ts'
import { amountColumn, countColumn } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { compareAmounts, readableAmount, roundedAmount, shareOf, sumAmounts } from '../../core/amount.ts'
import { counted } from '../../core/plural.ts'
import { lastDays } from '../../core/time.ts'
import { type SpentDay, withEmptyDays } from '../../core/usage-series.ts'
import { unixSeconds } from '../../state/clock.ts'

const HEIGHT = 120

const DAYS_SHOWN = 30

const COLUMNS: readonly TableColumn<SpentDay>[] = [
  { id: 'day', title: 'Day', value: ({ day }) => day },
  countColumn({ id: 'requests', title: 'Requests' }, ({ requests }) => requests),
  amountColumn({ id: 'cost', title: 'Cost' }, ({ cost }) => cost),
]

type SpendByDayProps = {
  readonly days: Overview['spend']['days']
  /** Undefined for all tenants. */
  readonly tenant: string | undefined
}

/** A bar for each day; the numbers are also in a table that opens below. */
export function SpendByDay({ days: spent, tenant }: SpendByDayProps) {
  const days = withEmptyDays(spent, lastDays(DAYS_SHOWN, unixSeconds()))
  const costs = days.map(({ cost }) => cost)
  const total = sumAmounts(costs)
  const [highest = '0'] = costs.toSorted((left, right) => compareAmounts(right, left))
  const sentence = `${roundedAmount(total)} credits in ${counted(days.length, 'day')}`
  return (
    <section class="card" aria-label="Spend by day">
      <div class="card-head">
        <h2>Spend by day</h2>
        <span class="hint">{sentence}</span>
      </div>
      <p class="bars-top" aria-hidden="true">
        {roundedAmount(highest)}
      </p>
      <svg
        class="bars"
        viewBox={`0 0 ${days.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={sentence}
      >
        {days.map(({ day, cost }, index) => {
          const height = shareOf(cost, costs) * (HEIGHT - 2)
          return (
            <rect
              key={day}
              x={index * 10 + 1.5}
              width={7}
              y={HEIGHT - Math.max(height, 1)}
              height={Math.max(height, 1)}
            >
              <title>{`${day}: ${readableAmount(cost)}`}</title>
            </rect>
          )
        })}
      </svg>
      <div class="bars-axis" aria-hidden="true">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </div>
      <details class="as-table">
        <summary>Show as table</summary>
        <PlainTable
          caption="Spend by day"
          columns={COLUMNS}
          rows={days.toReversed()}
          rowKey={({ day }) => day}
          exportName={['spend', 'by', 'day', tenant]}
        />
      </details>
    </section>
  )
}
