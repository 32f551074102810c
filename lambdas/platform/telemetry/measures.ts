import { Metrics } from '@aws-lambda-powertools/metrics'
import type { MetricUnit as Unit } from '@aws-lambda-powertools/metrics/types'
import { CHANNEL_METRICS, type CountedFact, type Measure, metricOfFact, unitOf } from '#core/measures.ts'
import { once } from '../cache.ts'

/** Numbers that were measured together. */
export type Measured = Readonly<Partial<Record<Measure, number | undefined>>>

/** What a number is about. Each has few values, from the configuration or the code, and is never a tenant, a key or a job. */
export type About = Readonly<Partial<Record<'channel' | 'model' | 'reason' | 'fact', string>>>

type Observer = {
  readonly measured: (values: Measured) => void
  readonly counted: (fact: CountedFact, about: About) => void
}

let observer: Observer | undefined

/** Tells everything that is measured and counted from now on to a local host, which has no CloudWatch. */
export function observeMeasures(observe: Observer): void {
  observer = observe
}

/** Created on first use, because the local host decides at its start whether metrics are emitted. */
const metrics = once(() => new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE ?? 'Reelgate' }))

/** As Powertools reads it, which prepares every line before it leaves the line out. Read once, at the first line. */
const areDisabled = once(() => process.env.POWERTOOLS_METRICS_DISABLED === 'true')

/**
 * Writes numbers as one line of the embedded metric format; undefined ones are left out. Each number is a metric of the whole service,
 * or of its channel where `CHANNEL_METRICS` has it. What else it is about stands in the line and is no dimension, because
 * CloudWatch bills each combination.
 */
export function measure(values: Measured, about: About = {}): void {
  observer?.measured(values)
  if (areDisabled()) {
    return
  }
  emit(
    Object.entries(values).map(([name, value]) => ({ name, value, unit: unitOf(name) })),
    about,
  )
}

type Emitted = { readonly name: string; readonly value: number | undefined; readonly unit: Unit }

/** Writes the numbers as a line for each dimension that they have; those that are not finite are left out. */
export function emit(all: readonly Emitted[], about: About): void {
  if (areDisabled()) {
    return
  }
  const names: readonly string[] = CHANNEL_METRICS
  const finite = all.filter(({ value }) => value !== undefined && Number.isFinite(value))
  writeLine(
    finite.filter(({ name }) => !names.includes(name)),
    { about, dimensions: {} },
  )
  writeLine(
    finite.filter(({ name }) => names.includes(name)),
    { about, dimensions: { channel: about.channel ?? 'none' } },
  )
}

function writeLine(
  numbers: readonly Emitted[],
  { about, dimensions }: { readonly about: About; readonly dimensions: Record<string, string> },
): void {
  if (numbers.length === 0) {
    return
  }
  const emitted = metrics()
  for (const { name, value = 0, unit } of numbers) {
    emitted.addMetric(name, unit, value)
  }
  emitted.addDimensions(dimensions)
  for (const [name, value] of Object.entries(about)) {
    if (!(name in dimensions)) {
      emitted.addMetadata(name, value)
    }
  }
  emitted.publishStoredMetrics()
}

/** Converts microcredits to credits, as a floating point number. */
export function creditsForGraphs(amount: bigint): number {
  return Number(amount) / 1_000_000
}

/** Counts one fact by its metric, and names it in the log line. */
export function count(fact: CountedFact, about: About = {}): void {
  observer?.counted(fact, about)
  emit([{ name: metricOfFact(fact), value: 1, unit: 'Count' }], { ...about, fact })
}
