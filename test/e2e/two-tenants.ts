import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { createUrlSigner, type UrlSigner } from '#adapters/cdn/signed-url.ts'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { parseCredits } from '#core/money.ts'
import { requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { readRunningHost } from '#local/data-directory.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { tableWithClient } from '../engines/table-with-client.ts'
import { TESTER } from '../engines/tester.ts'
import { requireReservation, reserveJob, settle } from '../engines/video-jobs.ts'
import { startReceiver } from './callback-receiver.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually, type VideoApi } from './video-api.ts'

const DAY_SECONDS = 86_400

/** A tenant with a job of every age: its ids, and its finished video. */
export type Inhabitant = {
  readonly tenantId: string
  readonly webhookSecret: string
  readonly api: VideoApi
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>
  /** Succeeded, with a video behind `url`. */
  readonly finished: { readonly id: string; readonly url: string; readonly key: string }
  /** Deleted after it had succeeded, with the url that it had. */
  readonly deleted: { readonly id: string; readonly url: string }
  /** Reads `expired`. */
  readonly expiredId: string
  /** Older than a record is kept. */
  readonly forgottenId: string
}

/** A gateway in which two tenants live, and its table. */
export async function startTwoTenants(options: Parameters<typeof startGateway>[0] = {}) {
  const receivers = await Promise.all([startReceiver(), startReceiver()])
  const gateway = await startGateway({ ...options, callbackOrigins: receivers.map(({ origin }) => origin) })
  const { table, close: closeTable } = openHostTable(gateway.dataDirectory)
  const [left, right] = await Promise.all(receivers.map((receiver) => moveIn({ gateway, table, receiver })))
  if (left === undefined || right === undefined) {
    throw new RangeError('two receivers make two tenants')
  }
  const stop = async () => {
    closeTable()
    await Promise.all([gateway.stop(), ...receivers.map((receiver) => receiver.close())])
  }
  return { gateway, table, left, right, stop }
}

/** The table of a host that runs, as the admin commands reach it. */
function openHostTable(dataDirectory: string) {
  const { dynamoDbEndpoint, tableName = '' } = readRunningHost(dataDirectory) ?? {}
  const client = new DynamoDBClient({
    endpoint: dynamoDbEndpoint ?? '',
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  return {
    table: tableWithClient({ client: createDocumentClient(client), name: tableName }),
    close: () => client.destroy(),
  }
}

type Home = { readonly gateway: Gateway; readonly table: Table; readonly receiver: Inhabitant['receiver'] }

async function moveIn({ gateway, table, receiver }: Home): Promise<Inhabitant> {
  const tenant = await makeTenant(table, { name: 'Inhabitant', credits: parseCredits('50') }, TESTER)
  const key = generateApiKey()
  await storeApiKey(table, { key, tenantId: tenant.id, models: null }, TESTER)
  const api = gateway.api.withKey(key)
  const owner = { tenantId: tenant.id, keyDigest: sha256Hex(key), webhookSecret: tenant.webhookSecret }
  const old = async (days: number) => {
    const createdAt = Math.trunc(Date.now() / 1000) - days * DAY_SECONDS
    return await succeedLongAgo(table, await reserveJob(table, owner, { createdAt }))
  }
  const [finished, deleted, expiredId, forgottenId] = await Promise.all([
    succeed(api, receiver),
    succeed(api, receiver),
    old(8),
    old(31),
  ])
  await eventually(
    async () => receiver.received.length,
    (count) => count === 2,
  )
  await api.delete(deleted.id)
  return {
    tenantId: tenant.id,
    webhookSecret: tenant.webhookSecret,
    api,
    receiver,
    finished,
    deleted,
    expiredId,
    forgottenId,
  }
}

async function succeed(api: VideoApi, receiver: Inhabitant['receiver']): Promise<Inhabitant['finished']> {
  const body = { model: 'famB-1.1-t2v', duration: 3, prompt: '[slow:1] a cat', callback_url: `${receiver.origin}/cb` }
  const { json } = await api.create(body)
  const { id, url } = await api.until(String(json.id), 'succeeded', 'failed')
  return { id: String(id), url: String(url), key: new URL(String(url)).pathname.slice(1) }
}

/** By the stores, as the pipeline would have done it then. */
async function succeedLongAgo(table: Table, job: Awaited<ReturnType<typeof reserveJob>>): Promise<string> {
  await claimSubmit(table, {
    job,
    channel: { id: 'p1-main', max_open_jobs: 100, provider: 'p2' },
    nowSeconds: job.createdAt,
  })
  await recordAccepted(table, job, {
    taskId: uuidv7(),
    submitText: { inline: '{}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
  await resolveReservation(table, { ...record, resolution: settle('0.1'), nowMilliseconds: job.createdAt * 1000 })
  return job.jobId
}

/** Signs as the host does, for any object and any end. */
export function openSigner({ dataDirectory, url }: Gateway, like: string): UrlSigner {
  return createUrlSigner({
    baseUrl: url,
    keyPairId: new URL(like).searchParams.get('Key-Pair-Id') ?? '',
    privateKeyPem: readFileSync(join(dataDirectory, 'cdn-key.pem'), 'utf8'),
  })
}
