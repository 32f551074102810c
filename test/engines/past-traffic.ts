import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import type { VideoModel } from '#core/catalogue/model.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { JOB_LIFETIME_SECONDS } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money.ts'
import { type CountedUsage, countedUsage } from '#core/pricing/usage.ts'
import { estimateVideoLine, requestedTier, snapshotPrices } from '#core/pricing/video-cost.ts'
import { createTable, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { videoKey } from '#store/bucket/bucket.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'
import { type NewVideoJob, reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted, recordPoll, recordStored } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { type TableWithClient, tableWithClient } from './test-table.ts'
import { TESTER } from './video-jobs.ts'

/** Who sent a request. */
export type PastKey = { readonly tenantId: string; readonly digest: string; readonly keyId: string }

/** A video job of the past. Times in unix seconds. */
export type PastVideo = {
  readonly request: VideoJobRequest
  readonly model: VideoModel
  readonly createdAt: number
  readonly channel: { readonly id: string; readonly provider: 'p1' | 'p2' }
  /** From creation to the end. */
  readonly tookSeconds: number
  /** Why the job failed; undefined for one that succeeded. */
  readonly error?: string
}

/** A relayed request of the past. */
export type PastRequest = {
  readonly operation: string
  readonly model: string
  readonly channel: string
  readonly amount: Microcredits
  readonly usage: Partial<CountedUsage>
}

/** No slot is refused. */
const OPEN_JOBS_MAX = 1_000_000

/**
 * Writes jobs and relayed requests at any time in the past, with the transactions of the gateway: balances, counters and ledger agree as
 * if it had served them.
 */
export class PastTraffic {
  readonly #table: Table
  readonly #ledger: RelayLedger
  #nowMilliseconds = 0

  constructor(table: Table) {
    this.#table = table
    const clock = { nowMilliseconds: () => this.#nowMilliseconds, pause: async () => {} }
    this.#ledger = new RelayLedger(table, { clock })
  }

  /** A key that no client has: it can be listed, and nobody can use it. */
  async key(tenantId: string, { name, createdAt }: { name: string; createdAt: number }): Promise<PastKey> {
    const digest = randomUUID().replaceAll('-', '').repeat(2)
    const key = { tenantId, digest, keyId: digest.slice(0, 8) }
    await putApiKey(this.#table, { ...key, name, models: null, createdAt: createdAt * 1000 }, TESTER)
    return key
  }

  /** @returns the id of the job. */
  async video(key: PastKey, video: PastVideo): Promise<string> {
    const job = newJob(key, video)
    await reserveQuota(this.#table, job)
    await this.#run(job, video)
    return job.jobId
  }

  /** Requests of one key that were open at once, in as few transactions as the gateway needs. `at` in milliseconds. @returns their ids. */
  async requests(key: PastKey, at: number, requests: readonly PastRequest[]): Promise<readonly string[]> {
    this.#nowMilliseconds = at
    const reserved = requests.map((request) => ({ request, reservation: reservationOf(key, at, request) }))
    await Promise.all(reserved.map(({ reservation }) => this.#ledger.reserve(reservation)))
    await Promise.all(
      reserved.map(({ reservation, request: { amount, usage, channel } }) =>
        this.#ledger.resolve(reservation, {
          kind: 'settle',
          actual: amount,
          estimated: false,
          usage: countedUsage(usage),
          channel,
        }),
      ),
    )
    return reserved.map(({ reservation }) => reservation.requestId)
  }

  async #run(job: NewVideoJob, { request, channel, tookSeconds, error }: PastVideo): Promise<void> {
    const table = this.#table
    const claimed = { ...channel, max_open_jobs: OPEN_JOBS_MAX }
    await claimSubmit(table, { job, channel: claimed, nowSeconds: job.createdAt + 1 })
    await recordAccepted(table, job, {
      taskId: randomUUID(),
      submitText: { inline: '{"status":"accepted"}' },
      acceptedAt: job.createdAt + 2,
    })
    const endedAt = job.createdAt + tookSeconds
    const durationSeconds = String(request.duration)
    if (error === undefined) {
      await recordPoll(table, job, { pollText: { inline: '{"status":"succeeded"}' }, finishedAt: endedAt - 2 })
      await recordStored(table, job, { durationSeconds, nowSeconds: endedAt - 1 })
    }
    const [stored, reservation] = [
      await getVideoJob(table, job.tenantId, job.jobId),
      await getReservation(table, job.tenantId, job.jobId),
    ]
    if (stored === undefined || reservation === undefined) {
      throw new Error(`job ${job.jobId} was not written`)
    }
    const usage = countedUsage({ videoMilliseconds: request.duration * 1000 })
    const resolution =
      error === undefined
        ? ({ kind: 'settle', actual: job.estimate, durationSeconds, usage, line: job.line } as const)
        : ({ kind: 'release', error } as const)
    await resolveReservation(table, { job: stored, reservation, resolution, nowMilliseconds: endedAt * 1000 })
  }
}

function newJob({ tenantId, digest, keyId }: PastKey, { request, model, createdAt }: PastVideo): NewVideoJob {
  const jobId = uuidv7({ msecs: createdAt * 1000 })
  const line = estimateVideoLine(request, model)
  const tier = requestedTier(request)
  return {
    tenantId,
    keyDigest: digest,
    keyId,
    operation: 'create-video-job',
    jobId,
    model: request.model,
    createdAt,
    expiresAt: createdAt + JOB_LIFETIME_SECONDS,
    videoKey: videoKey(randomUUID().replaceAll('-', ''), jobId),
    callbackUrl: undefined,
    requestId: randomUUID(),
    request: { inline: JSON.stringify(request) },
    estimate: line.amount,
    line,
    snapshot: snapshotPrices(model, tier),
    tier,
    idempotency: undefined,
  }
}

function reservationOf(key: PastKey, at: number, { operation, model, amount }: PastRequest): RelayReservation {
  const { tenantId, digest, keyId } = key
  return {
    tenantId,
    keyDigest: digest,
    keyId,
    operation,
    model,
    amount,
    requestId: uuidv7({ msecs: at }),
    reservedAt: at,
  }
}

/** The table of a local host: its file in the data directory, and its name. */
const TABLE_FILE = 'table.sqlite'
const TABLE_NAME = 'reelgate'

/** Gives the table in a data directory to `work`, before a host is started there. */
export async function withOfflineTable(
  dataDirectory: string,
  work: (table: TableWithClient) => Promise<void>,
): Promise<void> {
  const engine = await startDynamoDbEngine(join(dataDirectory, TABLE_FILE), { PATH: process.env.PATH })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials })
  try {
    await createTable(TABLE_NAME, client)
    await work(tableWithClient({ client: createDocumentClient(client), name: TABLE_NAME }))
  } finally {
    client.destroy()
    await engine.close()
  }
}
