import { amountString, approximateAmount, compareAmounts, parseAmount, sumAmounts } from './amount.ts'

/** A row of the usage by day and one other dimension. */
export type UsagePoint = { readonly day: string; readonly name: string; readonly cost: string }

/** One colour of the chart: a name, the exact cost of each day, and their sum. */
export type UsageSeries = { readonly name: string; readonly costs: readonly string[]; readonly total: string }

/** More colours cannot be told apart. */
const SERIES_MAX = 7

const OTHERS = 'others'

/** The largest series by cost, and one for all others; every series has a cost for each of the days. */
export function usageSeries(points: readonly UsagePoint[], days: readonly string[]): UsageSeries[] {
  const names = [...new Set(points.map(({ name }) => name))]
  const all = names.map((name) =>
    seriesOf(
      name,
      points.filter((point) => point.name === name),
      days,
    ),
  )
  const largest = all.toSorted((left, right) => compareAmounts(right.total, left.total))
  if (largest.length <= SERIES_MAX + 1) {
    return largest
  }
  const shown = largest.slice(0, SERIES_MAX)
  const isShown = new Set(shown.map(({ name }) => name))
  return [
    ...shown,
    seriesOf(
      OTHERS,
      points.filter(({ name }) => !isShown.has(name)),
      days,
    ),
  ]
}

function seriesOf(name: string, points: readonly UsagePoint[], days: readonly string[]): UsageSeries {
  const costs = days.map((day) => sumAmounts(points.filter((point) => point.day === day).map(({ cost }) => cost)))
  return { name, costs, total: sumAmounts(costs) }
}

/** Heights of stacked bars: each series with all below it, as numbers for drawing; the last one is the whole. */
export function stackedHeights(series: readonly UsageSeries[]): number[][] {
  const sums: bigint[] = []
  return series.map(({ costs }) =>
    costs.map((cost, index) => {
      const sum = (sums[index] ?? 0n) + (parseAmount(cost) ?? 0n)
      sums[index] = sum
      return approximateAmount(amountString(sum))
    }),
  )
}

/** One sentence for people who do not see the chart. */
export function usageSentence(series: readonly UsageSeries[], days: readonly string[]): string {
  const total = sumAmounts(series.map((each) => each.total))
  const parts = series.slice(0, 3).map(({ name, total: part }) => `${name} ${part}`)
  const span = `${days[0] ?? ''} to ${days.at(-1) ?? ''}`
  return `Cost by day from ${span}: ${total} credits in all${parts.length === 0 ? '' : `, of which ${parts.join(', ')}`}.`
}

/** What was spent on one day. */
export type SpentDay = { readonly day: string; readonly cost: string; readonly requests: number }

/** The days in their order, with zero for those on which nothing was spent. */
export function withEmptyDays(spent: readonly SpentDay[], days: readonly string[]): readonly SpentDay[] {
  const byDay = new Map(spent.map((each) => [each.day, each]))
  return days.map((day) => byDay.get(day) ?? { day, cost: '0', requests: 0 })
}
