import { readFileSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { parseCredits } from '#core/money.ts'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { readRunningHost } from '#local/data-directory.ts'
import { createUrlSigner, type UrlSigner } from '#platform/cdn/video-urls.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { tableWithClient } from '../engines/test-table.ts'
import { requireReservation, reserveJob, settle, TESTER } from '../engines/video-jobs.ts'
import { listenHttp } from '../platform/http/loopback.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually, startReceiver, type VideoApi } from './video-client.ts'

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

/** Every way to change a signed url of one's own, each with its name; `other` is the url of another tenant's video. */
export function tamperedUrls(own: string, other: string): [string, string][] {
  const changed = (change: (url: URL) => void) => {
    const url = new URL(own)
    change(url)
    return url.href
  }
  const member = (name: string, from = own) => new URL(from).searchParams.get(name) ?? ''
  const set = (name: string, change: (value: string) => string) =>
    changed((url) => url.searchParams.set(name, change(member(name))))
  const folder = (url: string) => new URL(url).pathname.split('/')[2] ?? ''
  const file = (url: string) => new URL(url).pathname.split('/')[3] ?? ''
  const query = (url: string) => url.slice(url.indexOf('?'))
  return [
    ['with another tenant’s path', new URL(other).origin + new URL(other).pathname + query(own)],
    ['with another tenant’s query', own.replace(query(own), query(other))],
    ['with another tenant’s signature', set('Signature', () => member('Signature', other))],
    ['with another job’s folder', own.replace(folder(own), folder(other))],
    ['with another job’s file', own.replace(file(own), file(other))],
    ['below another prefix', own.replace('/v/', '/v/texts/')],
    ['with a doubled slash', own.replace('/v/', '/v//')],
    ['with a path that goes on', own.replace('?', '/?')],
    ['with a later end', set('Expires', (end) => String(Number(end) + 1))],
    ['with an earlier end', set('Expires', (end) => String(Number(end) - 1))],
    ['with a zero before its end', set('Expires', (end) => `0${end}`)],
    ['with another first letter', set('Signature', (text) => (text[0] === 'A' ? 'B' : 'A') + text.slice(1))],
    ['with its last bits changed', set('Signature', changeUnusedBits)],
    ['with a letter that means nothing', set('Signature', (text) => `${text}!`)],
    ['with a signature cut short', set('Signature', (text) => text.slice(0, -4))],
    ['with another key', set('Key-Pair-Id', (id) => `${id}2`)],
    ['with a policy of its own', `${own}&Policy=e30_`],
    ['with a member more', `${own}&download=1`],
    ...['Expires', 'Signature', 'Key-Pair-Id'].flatMap((name): [string, string][] => [
      [`without ${name}`, changed((url) => url.searchParams.delete(name))],
      [`with an empty ${name}`, set(name, () => '')],
      [`with the same ${name} twice`, `${own}&${name}=${member(name)}`],
      [`with another ${name} behind it`, `${own}&${name}=9999999999`],
      [`with another ${name} before it`, own.replace('?', `?${name}=9999999999&`)],
    ]),
  ]
}

/** The last letter before the padding holds four bits that no byte comes from. */
function changeUnusedBits(signature: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-~'
  const text = signature.replace(/_+$/, '')
  const last = letters.indexOf(text.slice(-1))
  return `${text.slice(0, -1)}${letters[last ^ 1]}${signature.slice(text.length)}`
}

/** A bucket for a gateway in another process, behind a gate that can hold one write. */
export async function startGatedBucket() {
  const bucket = await startTestBucket()
  let gate: { prefix: string; arrived: () => void; opened: Promise<void> } | undefined
  const front = await listenHttp((incoming, response) => {
    const isHeld = incoming.method === 'PUT' && gate !== undefined && incoming.url?.includes(gate.prefix)
    const held = isHeld ? gate : undefined
    gate = isHeld ? undefined : gate
    held?.arrived()
    Promise.resolve(held?.opened)
      .then(() => passOn(incoming, response, bucket.endpoint))
      .catch(() => response.destroy())
  })
  return {
    /** For the gateway that uses it. */
    environment: {
      AWS_ENDPOINT_URL_S3: front.origin,
      AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    },
    /** Holds the next write below a prefix from the moment that `arrived` resolves until `open` is called. */
    holdWrite: (prefix: string) => {
      const arrived = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      gate = { prefix, arrived: arrived.resolve, opened: opened.promise }
      return { arrived: arrived.promise, open: opened.resolve }
    },
    close: async () => {
      await front.stop()
      await bucket.close()
    },
  }
}

/** The host header stays: it is part of what was signed. */
async function passOn(incoming: IncomingMessage, response: ServerResponse, endpoint: string): Promise<void> {
  const { method, url, headers } = incoming
  const outgoing = request(endpoint + (url ?? ''), { method: method ?? 'GET', headers, setHost: false })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject)
  })
  await pipeline(incoming, outgoing)
  const answer = await answered
  response.writeHead(answer.statusCode ?? 500, answer.headers)
  await pipeline(answer, response)
}
