import { Metrics } from '@aws-lambda-powertools/metrics'
import type { MetricUnit as Unit } from '@aws-lambda-powertools/metrics/types'
import { MEASURES } from '#core/telemetry/measures.ts'
import { once } from '../once.ts'
import { type Measured, tellMeasured } from './measure-observer.ts'

/** The dimensions of a number. Each has few values, from the configuration or the code, and never a tenant, a key or a job. */
export type Dimensions = Readonly<Partial<Record<'channel' | 'model' | 'reason', string>>>

/** Created on first use, because the local host decides at its start whether metrics are emitted. */
const metrics = once(() => new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE ?? 'Reelgate' }))

/** As Powertools reads it, which prepares every line before it leaves the line out. Read once, at the first line. */
const areDisabled = once(() => process.env.POWERTOOLS_METRICS_DISABLED === 'true')

/**
 * Writes numbers as one line of the embedded metric format; undefined ones are left out. Each number counts twice: for the
 * whole service, which alarms watch, and for its dimensions, which people read.
 */
export function measure(values: Measured, dimensions: Dimensions = {}): void {
  tellMeasured(values)
  if (areDisabled()) {
    return
  }
  const units: Readonly<Record<string, Unit>> = MEASURES
  emit(
    Object.entries(values).map(([name, value]) => ({ name, value, unit: units[name] ?? 'Count' })),
    dimensions,
  )
}

type Emitted = { readonly name: string; readonly value: number | undefined; readonly unit: Unit }

/** Writes the numbers as one line; those that are not finite are left out. */
export function emit(all: readonly Emitted[], dimensions: Dimensions): void {
  if (areDisabled()) {
    return
  }
  const emitted = metrics()
  let hasAny = false
  for (const { name, value, unit } of all) {
    if (value !== undefined && Number.isFinite(value)) {
      emitted.addMetric(name, unit, value)
      hasAny = true
    }
  }
  if (hasAny) {
    // The first set stands for the whole service, because Powertools adds `service` to each set.
    emitted.addDimensions({})
    if (Object.keys(dimensions).length > 0) {
      emitted.addDimensions(dimensions)
    }
    emitted.publishStoredMetrics()
  }
}

/** Converts microcredits to credits, as a floating point number. */
export function creditsForGraphs(amount: bigint): number {
  return Number(amount) / 1_000_000
}
