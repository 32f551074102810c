/** No value, no statistic. */
class NoValuesError extends RangeError {
  override readonly name = 'NoValuesError'
}

/** The smallest value that `share` (0 to 1) of all values do not exceed. @throws NoValuesError */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  const found = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
  if (found === undefined) {
    throw new NoValuesError('there are no values')
  }
  return found
}

/** The middle of all values, for an even number the mean of the two in the middle. @throws NoValuesError */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  if (low === undefined || high === undefined) {
    throw new NoValuesError('there are no values')
  }
  return (low + high) / 2
}
