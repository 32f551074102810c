import { join } from 'node:path'
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import type { VideoModel } from '#core/catalogue/model.ts'
import { parseCredits } from '#core/money/money.ts'
import { loadGatewayConfig } from '../lib/config/load-gateway-config.ts'
import { withOfflineTable } from '../test/engines/offline-table.ts'
import { type PastRequest, PastTraffic, type PastVideo } from '../test/engines/past-traffic.ts'
import type { TableWithClient } from '../test/engines/table-with-client.ts'
import { TESTER } from '../test/engines/tester.ts'
import { PROCESSING_MODEL } from './bench-config.ts'

/** The tenant of every local host. */
const TENANT = 'demo'

const DAY_SECONDS = 24 * 60 * 60

/** How much the console has to show. A job has two ledger rows, a relayed request has one. */
export type ConsoleVolume = { readonly jobs: number; readonly ledgerRows: number; readonly days: number }

type Item = Record<string, unknown>

/**
 * Fills the table of a data directory whose host does not run: the demo tenant with jobs and requests over some days until now. The
 * gateway's own transactions write one job and one request of each day, with its usage counters; the others are copies of these items at
 * other times, because transactions would take a quarter of an hour. So rows and balance do not agree.
 */
export async function fillConsoleData(dataDirectory: string, { jobs, ledgerRows, days }: ConsoleVolume): Promise<void> {
  await withOfflineTable(dataDirectory, async (table) => {
    await makeTenant(table, { id: TENANT, name: 'Demo', credits: parseCredits('1000') }, TESTER)
    const begin = Math.trunc(Date.now() / 1000) - days * DAY_SECONDS
    const key = await new PastTraffic(table).key(TENANT, { name: 'bench', createdAt: begin })
    const model = shippedModel()
    for (let day = 0; day < days; day += 1) {
      const createdAt = begin + day * DAY_SECONDS
      const traffic = new PastTraffic(table)
      const job = await itemsOfJob(table, await traffic.video(key, pastVideo(model, createdAt)))
      const [request = ''] = await traffic.requests(key, createdAt * 1000, [CHAT])
      const row = await readAll(table, [tableKeys.ledgerResolution(TENANT, request)])
      await writeAll(table, [
        ...copies(Math.round(jobs / days) - 1, (shift) => copyLater(job, createdAt, shift)),
        ...copies(Math.round((ledgerRows - 2 * jobs) / days) - 1, (shift) => copyLater(row, createdAt, shift)),
      ])
    }
  })
}

async function itemsOfJob(table: Table, jobId: string): Promise<readonly Item[]> {
  const keys = [tableKeys.job, tableKeys.reservation, tableKeys.ledgerReserve, tableKeys.ledgerResolution]
  return await readAll(
    table,
    keys.map((key) => key(TENANT, jobId)),
  )
}

async function readAll(table: Table, keys: readonly { PK: string; SK: string }[]): Promise<readonly Item[]> {
  const items = await Promise.all(keys.map((key) => table.readItem(key)))
  return items.map((item) => {
    if (item === undefined) {
      throw new Error('a sample was not written')
    }
    return item
  })
}

/** Items of `count` copies, spread evenly over the day. */
function copies(count: number, copy: (shiftSeconds: number) => readonly Item[]): Item[] {
  return Array.from({ length: count }, (_, index) => copy(Math.trunc(((index + 1) * DAY_SECONDS) / (count + 1)))).flat()
}

function copyLater(items: readonly Item[], createdAt: number, shiftSeconds: number): readonly Item[] {
  return copyOf(items, uuidv7({ msecs: (createdAt + shiftSeconds) * 1000 }), shiftSeconds)
}

/** The same items under another id, with later times: those in seconds have ten digits, those in milliseconds have more. */
function copyOf(items: readonly Item[], id: string, shiftSeconds: number): readonly Item[] {
  const later = (value: number) => value + (value > 1e11 ? shiftSeconds * 1000 : shiftSeconds)
  return items.map((item) => {
    const own = String(item.SK).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, id)
    const moved = Object.entries(item)
      .filter(([name, value]) => /At$|^at$|^ttl$/.test(name) && typeof value === 'number')
      .map(([name, value]) => [name, later(Number(value))])
    return { ...item, ...Object.fromEntries(moved), SK: own, ...('job' in item ? { job: id } : {}) }
  })
}

/** DynamoDB's bound of one request. */
const BATCH_ITEMS = 25

async function writeAll({ client, name }: TableWithClient, items: readonly Item[]): Promise<void> {
  for (let from = 0; from < items.length; from += BATCH_ITEMS) {
    const batch = items.slice(from, from + BATCH_ITEMS).map((Item) => ({ PutRequest: { Item } }))
    await client.send(new BatchWriteCommand({ RequestItems: { [name]: batch } }))
  }
}

const CHAT: PastRequest = {
  operation: 'create-chat-completion',
  model: 'chat-default',
  channel: 'openai-main',
  amount: parseCredits('0.00033'),
  usage: { inputTokens: 200, outputTokens: 500 },
}

/** As shipped, so that jobs look like those of a newcomer. */
function shippedModel(): VideoModel {
  const file = join(import.meta.dirname, '../config/gateway.yaml')
  const { config } = loadGatewayConfig({ file, environment: {}, mode: 'local' })
  const model = config.models.find(({ id }) => id === PROCESSING_MODEL)
  if (model?.kind !== 'video') {
    throw new Error(`${PROCESSING_MODEL} is no video model of config/gateway.yaml`)
  }
  return model
}

function pastVideo(model: VideoModel, createdAt: number): PastVideo {
  return {
    model,
    createdAt,
    channel: { id: 'p1-main', provider: 'p1' },
    tookSeconds: 90,
    request: {
      model: model.id,
      prompt: 'a boat',
      duration: 5,
      resolution: '720P',
      aspect_ratio: '16:9',
      generate_audio: true,
      watermark: false,
      image_urls: [],
      video_urls: [],
      audio_urls: [],
    },
  }
}
