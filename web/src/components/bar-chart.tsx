import { useState } from 'preact/hooks'
import { axisLabel, axisTop, labelledPlaces } from '../core/chart-axis.ts'
import { ChartTip, placedAt } from './chart-tip.tsx'

/** One bar. */
export type Bar = {
  /** What stands below some of the bars. */
  readonly label: string
  readonly value: number
  /** A part of the value that is bad, which stands dark at the bottom. */
  readonly bad?: number
  /** What is said under the pointer. */
  readonly words: string
}

type BarChartProps = {
  readonly bars: readonly Bar[]
  /** What the chart says, for people who do not see it. */
  readonly sentence: string
  /** Counts have no halves. */
  readonly isCount?: boolean
}

/** The height of the drawing; its page stretches it. */
const HEIGHT = 100

/** The width of a bar with its gap. */
const STEP = 10

/** Bars over an axis that begins at zero. The one under the pointer says what it is. */
export function BarChart({ bars, sentence, isCount = false }: BarChartProps) {
  const [pointed, setPointed] = useState<number | null>(null)
  const end = axisTop(bars.map(({ value }) => value))
  const top = isCount && end % 2 === 1 ? end + 1 : end
  const point = (event: PointerEvent & { readonly currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const place = Math.floor(((event.clientX - left) / width) * bars.length)
    setPointed(Math.min(bars.length - 1, Math.max(0, place)))
  }
  const at = pointed === null ? undefined : bars[pointed]
  return (
    <div class="bar-chart">
      <div class="bar-axis" aria-hidden="true">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{axisLabel(value)}</span>
        ))}
      </div>
      <div class="bar-plot" onPointerMove={point} onPointerDown={point} onPointerLeave={() => setPointed(null)}>
        <svg
          viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={sentence}
        >
          {[0, HEIGHT / 2].map((y) => (
            <line key={y} class="bar-line" x1={0} x2={bars.length * STEP} y1={y} y2={y} />
          ))}
          {bars.map(({ label, value, bad = 0 }, index) => (
            <g key={label} class={index === pointed ? 'is-pointed' : undefined}>
              <BarShape index={index} height={value / top} />
              {bad === 0 ? null : <BarShape index={index} height={bad / top} isBad />}
            </g>
          ))}
        </svg>
        {at === undefined || pointed === null ? null : (
          <ChartTip place={(pointed + 0.5) / bars.length}>{at.words}</ChartTip>
        )}
      </div>
      <div class="bar-labels" aria-hidden="true">
        {labelledPlaces(bars.length).map((index) => (
          <span key={index} style={placedAt((index + 0.5) / bars.length)}>
            {bars[index]?.label}
          </span>
        ))}
      </div>
    </div>
  )
}

/** What is not nothing can be seen. */
const SHAPE_MIN = 1.5

function BarShape({
  index,
  height,
  isBad = false,
}: {
  readonly index: number
  readonly height: number
  isBad?: boolean
}) {
  const drawn = height <= 0 ? 0 : Math.max(SHAPE_MIN, height * HEIGHT)
  return (
    <rect class={isBad ? 'bar-bad' : undefined} x={index * STEP + 1.5} width={7} y={HEIGHT - drawn} height={drawn} />
  )
}
