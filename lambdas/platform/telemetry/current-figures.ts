import type { AllFigures } from '../../core/measures.ts'
import { asError, logger } from './logger.ts'

type ReadFigures = (nowMilliseconds: number) => AllFigures

let ofThisProcess: ReadFigures | undefined

/** Tells the figures of this process from now on, as a local host does, which has no CloudWatch. */
export function provideFigures(read: ReadFigures): void {
  ofThisProcess = read
}

/** CloudWatch has new figures each minute, and each reading costs a request for every metric. */
const KEPT_MILLISECONDS = 60_000

let kept: { readonly figures: Promise<AllFigures | undefined>; readonly at: number } | undefined

/**
 * Errors and latency of the channels: of this process on a local host, else from CloudWatch (`POWERTOOLS_METRICS_NAMESPACE`), minutes
 * late. Undefined if they cannot be read: pages are shown without them.
 */
export async function readCurrentFigures(
  channels: readonly string[],
  nowMilliseconds: number,
): Promise<AllFigures | undefined> {
  const namespace = process.env.POWERTOOLS_METRICS_NAMESPACE
  if (ofThisProcess !== undefined || namespace === undefined) {
    return ofThisProcess?.(nowMilliseconds)
  }
  if (kept === undefined || nowMilliseconds - kept.at > KEPT_MILLISECONDS) {
    kept = { figures: fromCloudWatch(namespace, channels, nowMilliseconds), at: nowMilliseconds }
  }
  return await kept.figures
}

/** The client is loaded when it is first needed. */
async function fromCloudWatch(namespace: string, channels: readonly string[], nowMilliseconds: number) {
  try {
    const { readCloudWatchFigures } = await import('./cloudwatch-figures.ts')
    return await readCloudWatchFigures(namespace, channels, nowMilliseconds)
  } catch (error) {
    logger.warn('figures of the channels not read', { error: asError(error) })
    return undefined
  }
}
