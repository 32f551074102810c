/** A law of generation times. Seconds. */
export type Law = { readonly median: number; readonly p95: number }

/** Standard deviations from the median of a normal law to its 95th percentile. */
const P95_DEVIATIONS = 1.6448536269514722

/** One draw from the law. */
export function drawSeconds({ median, p95 }: Law, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * (p95 / median) ** (normal / P95_DEVIATIONS)
}

/** The fifth percentile of the law. */
export function earlySeconds({ median, p95 }: Law): number {
  return median / (p95 / median)
}
