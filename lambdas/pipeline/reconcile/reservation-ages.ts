import { measure } from '#platform/telemetry/measures.ts'
import type { JobKey } from '#store/due-index.ts'

/**
 * The ages of the oldest open reservations of a run. Runs visit jobs every ten minutes at least and requests after 16 minutes,
 * so the maximum over a quarter of an hour is the age of the oldest one. Ids of jobs hold their ages, and holds name their oldest
 * requests: nothing is read for them.
 */
export class ReservationAges {
  readonly #nowMilliseconds: number
  #oldestJob: number | undefined
  #oldestRequest: number | undefined

  constructor(nowMilliseconds: number) {
    this.#nowMilliseconds = nowMilliseconds
  }

  /** Yields the items unchanged. */
  async *watch(items: AsyncGenerator<JobKey>): AsyncGenerator<JobKey> {
    for await (const item of items) {
      this.#oldestJob = older(this.#oldestJob, millisecondsOfId(item.jobId))
      yield item
    }
  }

  /** Takes in the oldest request of a hold. */
  addRequest(reservedAtMilliseconds: number | undefined): void {
    this.#oldestRequest = older(this.#oldestRequest, reservedAtMilliseconds)
  }

  /** Measures nothing of a kind that the run did not visit. */
  measure(): void {
    measure({
      oldest_open_job_seconds: this.#ageOf(this.#oldestJob),
      oldest_open_request_seconds: this.#ageOf(this.#oldestRequest),
    })
  }

  #ageOf(sinceMilliseconds: number | undefined): number | undefined {
    return sinceMilliseconds === undefined ? undefined : Math.max(0, this.#nowMilliseconds - sinceMilliseconds) / 1000
  }
}

function older(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** When a job was created: the first 48 bits of a UUID of version 7 are milliseconds (RFC 9562, 5.7). */
export function millisecondsOfId(jobId: string): number {
  return Number.parseInt(jobId.replace('-', '').slice(0, 12), 16)
}
