import { conditionalUpdate } from '../table/conditional-update.ts'
import { readItem } from '../table/read-item.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Jobs that hold a slot of a channel right now. Half a read unit: a count a moment old paces as well. */
export async function countOpenJobs(table: Table, channelId: string): Promise<number> {
  const item = await readItem(table, tableKeys.channel(channelId), { mayLag: true })
  return typeof item?.open === 'number' ? Math.max(0, item.open) : 0
}

/** `version` moves with every change of the count. */
export type ChannelCount = { readonly open: number; readonly version: number }

/** Reads a channel's count, strongly consistent; undefined before its first claim. */
export async function readChannelCount(table: Table, channelId: string): Promise<ChannelCount | undefined> {
  const item = await readItem(table, tableKeys.channel(channelId))
  return typeof item?.open === 'number' ? { open: item.open, version: Number(item.version ?? 0) } : undefined
}

/** Corrects a count, unless it moved since it was read. @returns whether it was written. */
export async function setChannelCount(
  table: Table,
  channelId: string,
  { open, version }: ChannelCount,
): Promise<boolean> {
  const item = await conditionalUpdate(table, {
    Key: tableKeys.channel(channelId),
    UpdateExpression: 'SET #open = :open, version = :next',
    ConditionExpression: 'version = :version',
    ExpressionAttributeNames: { '#open': 'open' },
    ExpressionAttributeValues: { ':open': open, ':version': version, ':next': version + 1 },
  })
  return item !== undefined
}

/** Polls that may stand in line at once, in seconds' worth of them. */
const LINE_SECONDS = 1

/** The right to one poll, `pauseMilliseconds` from now: less than the line is long. */
export type PollToken = { readonly pauseMilliseconds: number }

/**
 * Takes one of the polls that a channel may get per second (GCRA: one timestamp, two conditional writes). Tokens are spread
 * evenly: who takes one keeps its pause, so that no second gets more than its share, not even the first one after a rest.
 * @returns undefined when the line is full for now.
 */
export async function takePollToken(
  table: Table,
  { channelId, perSecond, nowMilliseconds }: { channelId: string; perSecond: number; nowMilliseconds: number },
): Promise<PollToken | undefined> {
  const gap = Math.ceil(1000 / perSecond)
  const latest = nowMilliseconds + Math.max(0, LINE_SECONDS * 1000 - gap)
  const idle = {
    SET: 'tat = :next',
    condition: 'attribute_not_exists(tat) OR tat < :now',
    values: { ':next': nowMilliseconds + gap, ':now': nowMilliseconds },
  }
  const busy = {
    SET: 'tat = tat + :gap',
    condition: 'tat >= :now AND tat <= :latest',
    values: { ':gap': gap, ':now': nowMilliseconds, ':latest': latest },
  }
  const next = (await tryUpdate(table, channelId, idle)) ?? (await tryUpdate(table, channelId, busy))
  return next === undefined ? undefined : { pauseMilliseconds: next - gap - nowMilliseconds }
}

type Step = { SET: string; condition: string; values: Record<string, number> }

/** @returns when the poll after this one may come. */
async function tryUpdate(
  table: Table,
  channelId: string,
  { SET, condition, values }: Step,
): Promise<number | undefined> {
  const item = await conditionalUpdate(table, {
    Key: tableKeys.pollBucket(channelId),
    UpdateExpression: `SET ${SET}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: values,
  })
  return item === undefined ? undefined : Number(item.tat)
}
