import { DOLLARS, DOLLARS_PER_MILLION } from '../list-prices.ts'
import type { Assumptions } from './assumptions.ts'
import { chatLoad, ledgerLine, logLine, MEGABYTES_PER_VCPU, million } from './chat-costs.ts'
import type { CostLine } from './cost-line.ts'

/** What one second of a vCPU costs in a Lambda function: as a gigabyte second of the memory that brings a whole one. */
const VCPU_SECOND = (MEGABYTES_PER_VCPU / 1024) * DOLLARS.gigabyteSecond

/** A settlement waits so long for others of its tenant and process, while the process has other open requests of the tenant. Seconds. */
const GROUP_SECONDS = 0.25

/** Write units of a reservation, and of a group of settlements: balance and hold once, then a row and its share of the counter. */
const RESERVE_UNITS = 6
const settleUnits = (requests: number) => 6 + 2 * requests

/** One end of the range in which the cost lies. */
type WebEnd = 'low' | 'high'

type Served = {
  readonly chatSeconds: number
  /** Chats that one environment serves at a time, in the mean over its life, idle time included. */
  readonly atOnce: number
  readonly end: WebEnd
  readonly assumptions: Assumptions
}

/**
 * What a million streamed chats cost as a Lambda Web Function behind CloudFront, by service. AWS publishes the dimensions of the price
 * (requests, active CPU time, memory over the life of an environment, data transfer) and no rates that could be found: `low` takes
 * Lambda's own rates, little memory and one tenant, whose settlements form groups; `high` takes `webRateFactor` times the rates of CPU and
 * of requests, all memory of an environment, a transfer price beside CloudFront's, a bill for both log groups, and another tenant for each chat.
 */
export function costOfMillionWebChats({ chatSeconds, atOnce, end, assumptions }: Served): CostLine[] {
  const { cpuSeconds, gigabytes } = chatLoad(chatSeconds, assumptions)
  const { webRateFactor, webMemoryGigabytes } = assumptions
  const rateFactor = end === 'low' ? 1 : webRateFactor
  const memory = webMemoryGigabytes[end]
  const environmentSeconds = chatSeconds / atOnce
  const grouped = end === 'low' ? Math.max(1, (GROUP_SECONDS * atOnce) / chatSeconds) : 1
  const transfer = end === 'low' ? 0 : gigabytes * DOLLARS.transferGigabyte
  return [
    million('CPU time', `${(cpuSeconds * 1000).toFixed(0)} ms each`, cpuSeconds * VCPU_SECOND * rateFactor * 1e6),
    million(
      'Memory',
      `${(environmentSeconds * memory).toFixed(2)} GB-s each`,
      environmentSeconds * memory * DOLLARS.gigabyteSecond * 1e6,
    ),
    million('Requests', '1 each', DOLLARS_PER_MILLION.invocations * rateFactor),
    million('Data to CloudFront', `${(gigabytes * 1e6).toFixed(0)} KB each`, transfer * 1e6),
    ledgerLine(RESERVE_UNITS + settleUnits(grouped) / grouped),
    logLine(end === 'low' ? 1 : 2),
    ...cdnLines(gigabytes),
  ]
}

function cdnLines(gigabytes: number): CostLine[] {
  return [
    million('CloudFront requests', '1 each', DOLLARS_PER_MILLION.cdnRequests),
    million('CloudFront data out', `${(gigabytes * 1e6).toFixed(0)} KB each`, gigabytes * 1e6 * DOLLARS.cdnGigabyte),
  ]
}
