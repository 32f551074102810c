import type { ComponentChildren } from 'preact'

type ChartTipProps = {
  /** Where in the width of the chart, from 0 to 1. */
  readonly place: number
  /** Beside the place, which several lines would cover. */
  readonly isBeside?: boolean
  readonly children: ComponentChildren
}

/** What a chart says of the place under the pointer. One line never reaches out of the chart. */
export function ChartTip({ place, isBeside = false, children }: ChartTipProps) {
  return (
    <div class="chart-tip" aria-hidden="true" style={isBeside ? besideOf(place) : placedAt(place)}>
      {children}
    </div>
  )
}

/** Stands at a share of the width: at its left end with the left edge, at its right end with the right one. */
export function placedAt(place: number) {
  return { left: `${place * 100}%`, translate: `${place * -100}% 0` }
}

/** Stands on the side with more room. */
function besideOf(place: number) {
  return place < 0.5 ? { left: `calc(${place * 100}% + 16px)` } : { right: `calc(${(1 - place) * 100}% + 16px)` }
}
