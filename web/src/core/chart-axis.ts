/** Multiples of a power of ten whose half can be read as well. */
const STEPS = [1, 2, 3, 4, 6, 8, 10] as const

/** Where an axis ends: the next round number from the largest value on, such as 30 for 23 and 0.06 for 0.052; 1 if there is nothing. */
export function axisTop(values: readonly number[]): number {
  const largest = Math.max(0, ...values)
  if (largest === 0) {
    return 1
  }
  const power = 10 ** Math.floor(Math.log10(largest))
  const step = STEPS.find((each) => each * power >= largest) ?? 10
  return Number((step * power).toPrecision(1))
}

/** A value of an axis, such as `1,500` or `0.03`. */
export function axisLabel(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

const LABELS_MAX = 5

/** The places of a row that get a label: the first, the last, and as many between them as can be read. */
export function labelledPlaces(count: number): readonly number[] {
  const labels = Math.min(LABELS_MAX, count)
  return Array.from({ length: labels }, (_, index) => Math.round((index * (count - 1)) / Math.max(1, labels - 1)))
}
