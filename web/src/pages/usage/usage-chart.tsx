import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Amount } from '../../components/amount.tsx'
import { ChartTip } from '../../components/chart-tip.tsx'
import { roundedAmount, sumAmounts } from '../../core/amount.ts'
import { stackedHeights, type UsageSeries } from '../../core/usage-series.ts'
import { settings } from '../../state/settings.ts'
import { useStore } from '../../state/store.ts'
import { hatchedFill } from './hatched-fill.ts'

type UsageChartProps = {
  readonly series: readonly UsageSeries[]
  readonly days: readonly string[]
  /** What the chart says, for people who do not see it. */
  readonly sentence: string
}

const HEIGHT = 240

/** The width of the axis of costs. */
const AXIS = 60

/** Bars reach over the first and the last day by this part of a day. */
const MARGIN = 0.1

/** Stacked bars by day. Series differ by colour and by hatching, and the legend names their sums. */
export default function UsageChart({ series, days, sentence }: UsageChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<number | null>(null)
  const { theme } = useStore(settings)
  useEffect(() => {
    const element = box.current
    if (element === null) {
      return
    }
    let chart = draw(element, { series, days, onPoint: setPointed })
    const redraw = () => {
      chart.destroy()
      chart = draw(element, { series, days, onPoint: setPointed })
    }
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    // The colours of a canvas do not follow the page.
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    return () => {
      scheme.removeEventListener('change', redraw)
      resized.disconnect()
      chart.destroy()
    }
  }, [series.map(({ name, total }) => `${name} ${total}`).join(), days.join(), theme])
  return (
    <figure>
      <div class="chart-frame">
        <div ref={box} class="chart" role="img" aria-label={sentence} />
        {pointed === null ? null : <DayTip series={series} days={days} index={pointed} />}
      </div>
      <figcaption>
        <ul class="legend">
          {series.map(({ name, total }, index) => (
            <li key={name}>
              <span class={`swatch swatch-${index + 1}`} />
              {name} <Amount value={total} isRounded />
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

type DayTipProps = Pick<UsageChartProps, 'series' | 'days'> & { readonly index: number }

/** What was spent on the day under the pointer, and on what. */
function DayTip({ series, days, index }: DayTipProps) {
  const spent = series.map(({ name, costs }) => ({ name, cost: costs[index] ?? '0' }))
  const place = (index + 0.5 + MARGIN) / (days.length + 2 * MARGIN)
  return (
    <div class="chart-area">
      <ChartTip place={place} isBeside>
        <dl>
          <dt>{days[index]}</dt>
          <dd>{roundedAmount(sumAmounts(spent.map(({ cost }) => cost)))}</dd>
          {spent
            .filter(({ cost }) => cost !== '0')
            .map(({ name, cost }) => (
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>{roundedAmount(cost)}</dd>
              </Fragment>
            ))}
        </dl>
      </ChartTip>
    </div>
  )
}

type Drawing = Pick<UsageChartProps, 'series' | 'days'> & {
  /** The index of the day under the pointer; null for none. */
  readonly onPoint: (day: number | null) => void
}

/** The tallest bars are drawn first and the others over them, so each shows its own part. */
function draw(element: HTMLElement, { series, days, onPoint }: Drawing): uPlot {
  const style = getComputedStyle(element)
  const axis = {
    stroke: style.getPropertyValue('color'),
    grid: { stroke: color(element, '--line'), width: 1 },
    ticks: { show: false },
  }
  const bars = uPlot.paths.bars?.({ size: [0.72, 44], radius: 0.08 })
  const drawn = series.map((_, index) => index).toReversed()
  const heights = stackedHeights(series)
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
      scales: { x: { time: false, range: () => [-0.5 - MARGIN, days.length - 0.5 + MARGIN] } },
      axes: [
        {
          ...axis,
          size: 30,
          grid: { show: false },
          values: (_, splits) => splits.map((at) => days[at]?.slice(5) ?? ''),
        },
        { ...axis, size: AXIS },
      ],
      series: [
        {},
        ...drawn.map((index) => ({
          fill: hatchedFill(color(element, `--series-${index + 1}`), index),
          ...(bars === undefined ? {} : { paths: bars }),
          points: { show: false },
        })),
      ],
    },
    [days.map((_, index) => index), ...drawn.map((index) => heights[index] ?? [])],
    element,
  )
}

/** The colour of a custom property as the theme has it now. */
function color(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const value = getComputedStyle(probe).color
  probe.remove()
  return value
}
