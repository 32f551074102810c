import { Metrics } from '@aws-lambda-powertools/metrics'
import type { MetricUnit as Unit } from '@aws-lambda-powertools/metrics/types'
import { MEASURES, type Measure } from '#core/telemetry/measures.ts'
import { once } from '../once.ts'

/** What a number is about: few values each, known from the configuration or the code, never a tenant, a key or a job. */
export type Dimensions = Readonly<Partial<Record<'channel' | 'model' | 'reason', string>>>

/** Made at the first use, because the local host decides at its start whether anything is emitted. */
const metrics = once(() => new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE ?? 'Reelgate' }))

/**
 * Writes one line of the embedded metric format with some numbers about one thing; those that are undefined are left out.
 * Each number counts twice: for the whole service, which alarms watch, and for the dimensions, which people look at.
 */
export function measure(
  values: Readonly<Partial<Record<Measure, number | undefined>>>,
  dimensions: Dimensions = {},
): void {
  const units: Readonly<Record<string, Unit>> = MEASURES
  emit(
    Object.entries(values).map(([name, value]) => ({ name, value, unit: units[name] ?? 'Count' })),
    dimensions,
  )
}

type Emitted = { readonly name: string; readonly value: number | undefined; readonly unit: Unit }

/** One line with all of these. */
export function emit(all: readonly Emitted[], dimensions: Dimensions): void {
  const emitted = metrics()
  let hasAny = false
  for (const { name, value, unit } of all) {
    if (value !== undefined && Number.isFinite(value)) {
      emitted.addMetric(name, unit, value)
      hasAny = true
    }
  }
  if (hasAny) {
    // The first set is the whole service: Powertools adds `service` to each set.
    emitted.addDimensions({})
    if (Object.keys(dimensions).length > 0) {
      emitted.addDimensions(dimensions)
    }
    emitted.publishStoredMetrics()
  }
}

/** Microcredits as credits, in a floating point number. */
export function creditsForGraphs(amount: bigint): number {
  return Number(amount) / 1_000_000
}
