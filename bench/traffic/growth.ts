import { median } from '../statistics.ts'
import type { ProcessSize } from './process-size.ts'

/** How a process grew while its load stayed the same. */
export type Growth = {
  /** Median of the second quarter of its life, when it is warm. */
  readonly early: ProcessSize
  /** Median of the last quarter. */
  readonly late: ProcessSize
  readonly peakBytes: number
}

/** Compares two quarters of the life of a process. @param sizes in the order of their time, at even intervals; at least four. */
export function growthOf(sizes: readonly ProcessSize[]): Growth {
  const quarter = Math.floor(sizes.length / 4)
  return {
    early: medianSize(sizes.slice(quarter, 2 * quarter)),
    late: medianSize(sizes.slice(-quarter)),
    peakBytes: Math.max(...sizes.map(({ residentBytes }) => residentBytes)),
  }
}

function medianSize(sizes: readonly ProcessSize[]): ProcessSize {
  return {
    residentBytes: median(sizes.map(({ residentBytes }) => residentBytes)),
    descriptors: median(sizes.map(({ descriptors }) => descriptors)),
  }
}
