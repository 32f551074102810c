import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Jobs that hold a slot of a channel. Half a read unit, because a count from a moment ago paces as well. */
export async function countOpenJobs(table: Table, channelId: string): Promise<number> {
  const item = await table.readItem(tableKeys.channel(channelId), { mayLag: true })
  return typeof item?.open === 'number' ? Math.max(0, item.open) : 0
}

/** Open jobs of a channel; `version` changes with every change of the count. */
export type ChannelCount = { readonly open: number; readonly version: number }

/** Reads a channel's count, strongly consistent; undefined before its first claim. */
export async function readChannelCount(table: Table, channelId: string): Promise<ChannelCount | undefined> {
  const item = await table.readItem(tableKeys.channel(channelId))
  return typeof item?.open === 'number' ? { open: item.open, version: Number(item.version ?? 0) } : undefined
}

/** Corrects a count, unless it changed since it was read. @returns whether it was written. */
export async function setChannelCount(
  table: Table,
  channelId: string,
  { open, version }: ChannelCount,
): Promise<boolean> {
  const { isWritten } = await table.updateItem({
    Key: tableKeys.channel(channelId),
    UpdateExpression: 'SET #open = :open, version = :next',
    ConditionExpression: 'version = :version',
    ExpressionAttributeNames: { '#open': 'open' },
    ExpressionAttributeValues: { ':open': open, ':version': version, ':next': version + 1 },
  })
  return isWritten
}

/** How far ahead polls may be scheduled. */
const LINE_SECONDS = 1

/** The right to one poll, `pauseMilliseconds` from now. */
export type PollToken = { readonly pauseMilliseconds: number }

/**
 * Takes one of the polls that a channel may get per second (GCRA: one timestamp, two conditional writes). Tokens are spread
 * evenly: each has a pause to observe, so that no second gets more than its share, not even the first after a rest.
 * @returns undefined when no poll is free within the line.
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

/** @returns when the next poll may come, in Unix milliseconds. */
async function tryUpdate(
  table: Table,
  channelId: string,
  { SET, condition, values }: Step,
): Promise<number | undefined> {
  const { isWritten, item } = await table.updateItem({
    Key: tableKeys.pollBucket(channelId),
    UpdateExpression: `SET ${SET}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: values,
  })
  return isWritten ? Number(item.tat) : undefined
}
