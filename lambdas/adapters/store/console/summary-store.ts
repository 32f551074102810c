import { isDeepStrictEqual, promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { DayUsage, SummarizedTenant, Summary } from '#core/admin/summary.ts'
import type { UsageCounter } from '#core/pricing/usage.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { changedDays } from './build-summary.ts'

/** Characters of one packed item: DynamoDB ends an item at 400 KB. */
const ITEM_CHARACTERS_MAX = 350_000

/** Tenants of one item: some 300 bytes each, a fifth of that packed. */
const TENANTS_PER_ITEM = 2_500

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const ALL_PARTS = 100

/** The summary is too large for its item: a fault of the bounds of {@link mergeCounters}. */
class SummaryTooLargeError extends Error {
  override readonly name = 'SummaryTooLargeError'
}

/**
 * Writes a summary: the days that changed, then the tenants that did, then when. A run that breaks off in between is repeated by the next
 * one, because tenants say what was counted.
 */
export async function writeSummary(table: Pick<Table, 'updateItem'>, next: Summary, previous: Summary | undefined) {
  for (const day of changedDays(previous, next)) {
    await put(table, `DAY#${day}`, [...(next.days.get(day) ?? [])])
  }
  const pages = Math.max(1, Math.ceil(next.tenants.length / TENANTS_PER_ITEM))
  for (let page = 0; page < pages; page += 1) {
    const [before, tenants] = [previous?.tenants, next.tenants].map((all) =>
      all?.slice(page * TENANTS_PER_ITEM, (page + 1) * TENANTS_PER_ITEM),
    )
    if (!isDeepStrictEqual(before, tenants)) {
      await put(table, pageName(page), tenants)
    }
  }
  await put(table, 'HEAD', { asOf: next.asOf, pages })
}

function pageName(page: number): string {
  return `TENANTS#${String(page).padStart(3, '0')}`
}

/** Reads the summary, with the days from `from` on alone; undefined before the first one is written. */
export async function readSummary(
  table: Pick<Table, 'readItem' | 'queryPage'>,
  from = '0000-00-00',
): Promise<Summary | undefined> {
  const head = await table.readItem(tableKeys.summary('HEAD'))
  if (head === undefined) {
    return undefined
  }
  const { asOf, pages }: { asOf: number; pages: number } = await unpack(head.packed)
  const [days, tenants] = await Promise.all([
    readParts<[string, UsageCounter[]][]>(table, `DAY#${from}`, 'DAY#~'),
    readParts<SummarizedTenant[]>(table, pageName(0), pageName(pages - 1)),
  ])
  return {
    asOf,
    tenants: tenants.flatMap(([, page]) => page),
    days: new Map(days.map(([name, usage]): [string, DayUsage] => [name.slice('DAY#'.length), new Map(usage)])),
  }
}

async function readParts<Part>(table: Pick<Table, 'queryPage'>, first: string, last: string) {
  const parts: [name: string, part: Part][] = []
  let startKey: Parameters<Table['queryPage']>[1]
  for (let page = 0; page < ALL_PARTS; page += 1) {
    const read = await table.queryPage(
      {
        KeyConditionExpression: 'PK = :pk AND SK BETWEEN :first AND :last',
        ExpressionAttributeValues: { ':pk': tableKeys.summary('').PK, ':first': first, ':last': last },
      },
      startKey,
    )
    for (const { SK, packed } of read.items) {
      parts.push([String(SK), await unpack<Part>(packed)])
    }
    startKey = read.nextKey
    if (startKey === undefined) {
      break
    }
  }
  return parts
}

/** Seconds until an item that no summary writes again is deleted: older days. */
const KEPT_SECONDS = 40 * 24 * 60 * 60

async function put(table: Pick<Table, 'updateItem'>, name: string, part: unknown): Promise<void> {
  const packed = (await compress(JSON.stringify(part, withBigints))).toString('base64')
  if (packed.length > ITEM_CHARACTERS_MAX) {
    throw new SummaryTooLargeError(`${name} has ${packed.length} characters`)
  }
  await table.updateItem({
    Key: tableKeys.summary(name),
    UpdateExpression: 'SET packed = :packed, #ttl = :ttl',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':packed': packed, ':ttl': Math.trunc(Date.now() / 1000) + KEPT_SECONDS },
  })
}

/** Only this file writes these items, so they are read as what they were. */
async function unpack<Part>(packed: unknown): Promise<Part> {
  const text = (await decompress(Buffer.from(String(packed), 'base64'))).toString()
  // biome-ignore lint/plugin: written by this file alone.
  return JSON.parse(text, fromBigints)
}

function withBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { $: String(value) } : value
}

function fromBigints(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && '$' in value ? BigInt(String(value.$)) : value
}
