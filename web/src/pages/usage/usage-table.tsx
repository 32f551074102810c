import { Amount } from '../../components/amount.tsx'
import type { UsageSeries } from '../../core/usage-series.ts'

type UsageTableProps = { readonly series: readonly UsageSeries[]; readonly days: readonly string[] }

/** The numbers of the chart; the newest day first. */
export function UsageTable({ series, days }: UsageTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll box must be reachable by the keyboard
    <section class="table-box" tabIndex={0} aria-label="Cost by day as a table">
      <table>
        <caption class="unseen">Cost by day, in credits</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="at-end">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day}>
              <td>{day}</td>
              {series.map(({ name, costs }) => (
                <td key={name} class="at-end">
                  <Amount value={costs[days.indexOf(day)]} isRounded />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Sum</td>
            {series.map(({ name, total }) => (
              <td key={name} class="at-end">
                <Amount value={total} isRounded />
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </section>
  )
}
