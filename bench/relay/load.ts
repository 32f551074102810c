import type { EventEmitter } from 'node:events'
import autocannon from 'autocannon'
import { quantile } from '../statistics.ts'

/** One load on one server: always the same request. */
export type LoadOrder = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The last bytes of every correct response. */
  readonly end: string
  readonly connections: number
  /** The load ends after this time, or after this number of requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number }
}

/** Milliseconds that half of all requests, and 99 of 100, took at most. */
type Percentiles = { readonly p50: number; readonly p99: number }

/** What came of a load. */
export type LoadFigures = {
  /** With a correct response. */
  readonly requests: number
  readonly perSecond: number
  /** Until the last byte of the response. */
  readonly total: Percentiles
  /** Until the first byte of its body. */
  readonly firstByte: Percentiles
  /** Connections that broke, timeouts, other statuses, and responses with another end. */
  readonly errors: number
}

/** No request got a correct response, so there is nothing to take percentiles of. */
class NoResponseError extends Error {
  override readonly name = 'NoResponseError'
}

/** Keeps one request on its way on each connection. @throws NoResponseError */
export async function runLoad({ url, headers, body, end, connections, until }: LoadOrder): Promise<LoadFigures> {
  const total: number[] = []
  const firstByte: number[] = []
  const watch = (client: EventEmitter) => {
    let sentAt = 0
    let firstByteAt: number | undefined
    client.on('request', () => {
      sentAt = performance.now()
      firstByteAt = undefined
    })
    client.on('body', () => {
      firstByteAt ??= performance.now()
    })
    client.on('response', (status: number) => {
      if (status === 200) {
        const endedAt = performance.now()
        total.push(endedAt - sentAt)
        firstByte.push((firstByteAt ?? endedAt) - sentAt)
      }
    })
  }
  const result = await autocannon({
    ...{ url, method: 'POST', headers, body, connections, setupClient: watch },
    ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests }),
    verifyBody: (text) => String(text).endsWith(end),
  })
  const { errors, non2xx, mismatches, duration } = result
  const requests = total.length - mismatches
  if (requests <= 0) {
    throw new NoResponseError(`no correct response from ${url}: ${errors} errors, ${non2xx} other statuses`)
  }
  return {
    requests,
    perSecond: requests / duration,
    total: percentiles(total),
    firstByte: percentiles(firstByte),
    errors: errors + non2xx + mismatches,
  }
}

function percentiles(values: readonly number[]): Percentiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) }
}
