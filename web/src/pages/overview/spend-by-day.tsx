import type { Overview } from '../../api/admin-types.ts'
import { BarChart } from '../../components/bar-chart.tsx'
import { amountColumn, countColumn } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { approximateAmount, roundedAmount, sumAmounts } from '../../core/amount.ts'
import { counted } from '../../core/plural.ts'
import { lastDays } from '../../core/time.ts'
import { type SpentDay, withEmptyDays } from '../../core/usage-series.ts'
import { unixSeconds } from '../../state/clock.ts'

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
  const total = sumAmounts(days.map(({ cost }) => cost))
  const bars = days.map(({ day, cost, requests }) => ({
    ...{ label: day.slice('yyyy-'.length), value: approximateAmount(cost) },
    words: `${day}: ${roundedAmount(cost)} credits, ${counted(requests, 'request')}`,
  }))
  const sentence = `${roundedAmount(total)} credits in ${counted(days.length, 'day')}`
  return (
    <section class="card" aria-label="Spend by day">
      <div class="card-head">
        <h2>Spend by day</h2>
        <span class="hint">{sentence}</span>
      </div>
      <BarChart sentence={sentence} bars={bars} />
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
