import type { Overview } from '../../api/admin-types.ts'
import { Amount } from '../../components/amount.tsx'
import { readableAmount, shareOf, sumAmounts } from '../../core/amount.ts'
import { lastDays } from '../../core/time.ts'
import { withEmptyDays } from '../../core/usage-series.ts'
import { unixSeconds } from '../../state/clock.ts'

const HEIGHT = 120

const DAYS_SHOWN = 30

/** A bar for each day; the numbers are also in a table that opens below. */
export function SpendByDay({ days: spent }: { readonly days: Overview['spend']['days'] }) {
  const days = withEmptyDays(spent, lastDays(DAYS_SHOWN, unixSeconds()))
  const costs = days.map(({ cost }) => cost)
  const total = sumAmounts(costs)
  const sentence = `${readableAmount(total)} credits in ${days.length} days`
  return (
    <section class="card" aria-label="Spend by day">
      <div class="card-head">
        <h2>Spend by day</h2>
        <span class="hint">{sentence}</span>
      </div>
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
        <table class="plain">
          <caption class="unseen">Spend by day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="at-end">
                Requests
              </th>
              <th scope="col" class="at-end">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ day, cost, requests }) => (
              <tr key={day}>
                <td>{day}</td>
                <td class="at-end">{requests}</td>
                <td class="at-end">
                  <Amount value={cost} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}
