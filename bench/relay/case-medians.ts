import { median } from '../statistics.ts'
import type { Percentiles } from './outcome-tally.ts'
import type { TargetName } from './relay-targets.ts'
import type { LoadFigures } from './run-load.ts'

/** One load on one target. */
export type Run = {
  readonly target: TargetName
  readonly caseName: string
  readonly figures: LoadFigures
  /** Whether nothing else kept the machine busy when it began. */
  readonly isUndisturbed: boolean
}

/** The middle of the rounds of one case and target, each figure for itself; failures of all of them together. */
export type CaseMedians = {
  readonly perSecond: number
  readonly total: Percentiles
  readonly firstByte: Percentiles
  readonly residentBytes: number
  readonly cpuMilliseconds: number
  readonly engineCpuMilliseconds: number
  readonly failures: number
}

/** Finds the figures of a case and a target. @throws NoValuesError when they were not measured. */
export type FiguresOf = (caseName: string, target: TargetName) => CaseMedians

/** Sums runs up. */
export function mediansOf(runs: readonly Run[]): FiguresOf {
  return (caseName, target) => {
    const some = runs.filter((run) => run.caseName === caseName && run.target === target).map(({ figures }) => figures)
    const middle = (figureOf: (figures: LoadFigures) => number) => median(some.map(figureOf))
    return {
      perSecond: middle(({ perSecond }) => perSecond),
      total: { p50: middle(({ total }) => total.p50), p99: middle(({ total }) => total.p99) },
      firstByte: { p50: middle(({ firstByte }) => firstByte.p50), p99: middle(({ firstByte }) => firstByte.p99) },
      residentBytes: middle(({ residentBytes }) => residentBytes),
      cpuMilliseconds: middle(({ cpuMilliseconds }) => cpuMilliseconds),
      engineCpuMilliseconds: middle(({ engineCpuMilliseconds }) => engineCpuMilliseconds),
      failures: some.flatMap(({ failures }) => Object.values(failures)).reduce((sum, count) => sum + count, 0),
    }
  }
}
