import { Metrics } from '@aws-lambda-powertools/metrics'
import { jest } from '@jest/globals'
import { setTestLogging } from '../logs/test-logging.ts'

/** One number of one line in the embedded metric format, under one of its dimension sets: what CloudWatch makes a metric of. */
export type EmittedMetric = {
  readonly namespace: string
  readonly name: string
  readonly unit: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly value: number
  /** The fact that is counted, of a metric that counts facts. */
  readonly fact: unknown
}

type EmfLine = Readonly<Record<string, unknown>> & {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[]
    }[]
  }
}

const EMF = '{"_aws":'

/**
 * Reads what functions write to their standard output, as CloudWatch Logs would.
 * For tests that begin with it: to be called before anything is measured.
 */
export function captureMetrics(): {
  readonly emitted: () => readonly EmittedMetric[]
  readonly lines: () => number
  readonly lastLine: () => Readonly<Record<string, unknown>>
} {
  delete process.env.POWERTOOLS_METRICS_DISABLED
  const kept: EmfLine[] = []
  const write = process.stdout.write.bind(process.stdout)
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk: string | Uint8Array) => {
    const text = String(chunk)
    if (text.startsWith(EMF)) {
      kept.push(JSON.parse(text))
    }
    return write(chunk)
  })
  return { emitted: () => kept.flatMap(metricsOf), lines: () => kept.length, lastLine: () => kept.at(-1) ?? {} }
}

function metricsOf(line: EmfLine): readonly EmittedMetric[] {
  return line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Metrics.flatMap(({ Name, Unit }) =>
      Dimensions.map((names) => ({
        namespace: Namespace,
        name: Name,
        unit: Unit,
        dimensions: Object.fromEntries(names.map((name) => [name, String(line[name])])),
        value: Number(line[Name]),
        fact: line.fact,
      })),
    ),
  )
}

/** Lets everything be logged, off the terminal, and lists the facts that were counted since. */
export function captureTelemetry(): { readonly counted: () => string[]; readonly reset: () => void } {
  setTestLogging()
  const addMetadata = jest.spyOn(Metrics.prototype, 'addMetadata')
  // The describes of a file share the spy.
  addMetadata.mockClear()
  return {
    counted: () => addMetadata.mock.calls.filter(([name]) => name === 'fact').map(([, fact]) => fact),
    reset: () => void addMetadata.mockClear(),
  }
}
