import { RELAYED_UNITS } from '../../test/engines/operation-units.ts'
import { DOLLARS, DOLLARS_PER_MILLION } from '../list-prices.ts'
import { type Assumptions, LOG_KILOBYTES, TRACED_SHARE } from './assumptions.ts'
import type { CostLine } from './cost-line.ts'

/** Memory at which Lambda gives a function one whole vCPU; less memory gets a share in proportion (docs.aws.amazon.com/lambda, "Configure function memory"). */
export const MEGABYTES_PER_VCPU = 1769

/** What one chat of some length asks of whoever serves it. */
export type ChatLoad = {
  /** CPU time on a whole vCPU. Seconds. */
  readonly cpuSeconds: number
  /** Of the response. */
  readonly gigabytes: number
}

/** @param chatSeconds from the first byte of the request to the last of the response. */
export function chatLoad(chatSeconds: number, assumptions: Assumptions): ChatLoad {
  const { requestCpuMilliseconds, eventCpuMilliseconds, eventsPerSecond, eventBytes } = assumptions
  const events = chatSeconds * eventsPerSecond
  return {
    cpuSeconds: (requestCpuMilliseconds + events * eventCpuMilliseconds) / 1000,
    gigabytes: (events * eventBytes) / 1e9,
  }
}

type Served = {
  readonly chatSeconds: number
  readonly memoryMegabytes: number
  readonly assumptions: Assumptions
}

/**
 * What a million streamed chats cost behind API Gateway and Lambda, by service; about the same for completions, embeddings and images
 * of that length. The work of a request lengthens its time by the share of a vCPU that the memory brings; the work of events is done
 * while the function waits for the next one.
 */
export function costOfMillionChats({ chatSeconds, memoryMegabytes, assumptions }: Served): CostLine[] {
  const workSeconds = (assumptions.functionCpuMilliseconds / 1000) * (MEGABYTES_PER_VCPU / memoryMegabytes)
  const gigabyteSeconds = (memoryMegabytes / 1024) * (chatSeconds + workSeconds)
  const { gigabytes } = chatLoad(chatSeconds, assumptions)
  return [
    million('Lambda time', `${gigabyteSeconds.toFixed(1)} GB-s each`, gigabyteSeconds * DOLLARS.gigabyteSecond * 1e6),
    ledgerLine(),
    million('Data out', `${(gigabytes * 1e6).toFixed(0)} KB each`, gigabytes * 1e6 * DOLLARS.transferGigabyte),
    million('API Gateway', '1 request each', DOLLARS_PER_MILLION.apiRequests),
    logLine(),
    million('Lambda requests', '1 each', DOLLARS_PER_MILLION.invocations),
    million('X-Ray', '5 % of the requests', TRACED_SHARE * DOLLARS_PER_MILLION.tracesRecorded),
  ]
}

/** A chat that is reserved and settled alone. */
export function ledgerLine(units: number = RELAYED_UNITS.writes): CostLine {
  return million('DynamoDB writes', `${units.toFixed(0)} units each`, units * DOLLARS_PER_MILLION.writeUnits)
}

/** The lines that a request writes, whoever serves it. @param copies log groups that are billed for them. */
export function logLine(copies = 1): CostLine {
  const kilobytes = copies * LOG_KILOBYTES
  return million('Logs', `${kilobytes} KB each`, kilobytes * DOLLARS.logGigabyte)
}

/** @param dollars for a million of them. */
export function million(part: string, count: string, dollars: number): CostLine {
  return { part, count, dollars }
}
