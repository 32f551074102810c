import * as z from 'zod/mini'
import { sumsOf, type UsualSeconds, usualSeconds, WINDOW_SAMPLES } from '#core/jobs/waits.ts'
import { change, isStill } from '../table/expressions.ts'
import type { ItemUpdate, Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Jobs that hold a slot of a channel. Half a read unit, because a count from a moment ago paces as well. */
export async function countOpenJobs(table: Table, channelId: string): Promise<number> {
  const item = await table.readItem(tableKeys.channel(channelId), { mayLag: true })
  return typeof item?.open === 'number' ? Math.max(0, item.open) : 0
}

/** Open jobs of a channel; `version` changes with every change of the count. */
type ChannelCount = { readonly open: number; readonly version: number }

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
  const count = { set: { open, version: version + 1 } }
  return (await table.updateItem(change(tableKeys.channel(channelId), count, [isStill('version', version)]))).isWritten
}

/** How far ahead polls may be scheduled. */
const LINE_SECONDS = 1

/** The right to one poll, `pauseMilliseconds` from now. */
type PollToken = { readonly pauseMilliseconds: number }

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
  const key = tableKeys.pollBucket(channelId)
  const isIdle = { condition: 'attribute_not_exists(tat) OR tat < :now', values: { ':now': nowMilliseconds } }
  const isNear = {
    condition: 'tat >= :now AND tat <= :latest',
    values: { ':now': nowMilliseconds, ':latest': latest },
  }
  const next =
    (await tryUpdate(table, change(key, { set: { tat: nowMilliseconds + gap } }, [isIdle]))) ??
    (await tryUpdate(table, change(key, { add: { tat: gap } }, [isNear])))
  return next === undefined ? undefined : { pauseMilliseconds: next - gap - nowMilliseconds }
}

/** @returns when the next poll may come, in Unix milliseconds. */
async function tryUpdate(table: Table, update: ItemUpdate): Promise<number | undefined> {
  const { isWritten, item } = await table.updateItem(update)
  return isWritten ? Number(item.tat) : undefined
}

/** A class of jobs within a channel (lambdas/core/jobs/waits.ts). */
type ClassKey = { readonly channelId: string; readonly className: string }

/** A class is forgotten this long after its last finished job: by then its jobs may take any time. */
const UNUSED_SECONDS_MAX = 30 * 24 * 60 * 60

/** The sums of the current window, and of the full window before it. */
const timesItem = z.object({
  samples: z.number(),
  logSum: z.number(),
  logSquares: z.number(),
  samplesBefore: z._default(z.number(), 0),
  logSumBefore: z._default(z.number(), 0),
  logSquaresBefore: z._default(z.number(), 0),
})

/**
 * The usual times of a class; undefined while too little is known. Half a read unit and one try: a guess is not worth a wait.
 * @throws the error of the one try.
 */
export async function readUsualSeconds(table: Table, key: ClassKey): Promise<UsualSeconds | undefined> {
  const item = await table.readItem(tableKeys.generationTimes(key.channelId, key.className), {
    mayLag: true,
    isTriedOnce: true,
  })
  if (item === undefined) {
    return undefined
  }
  const { samplesBefore, logSumBefore, logSquaresBefore, ...current } = timesItem.parse(item)
  return usualSeconds([current, { samples: samplesBefore, logSum: logSumBefore, logSquares: logSquaresBefore }])
}

/**
 * Adds one finished job to its class without reading it, so that jobs that finish together all count. A full window becomes the
 * window before. A sample that loses that change to another is dropped, and one whose response was lost may count twice. One try,
 * as for reading.
 * @throws the error of the one try.
 */
export async function addGenerationTime(
  table: Table,
  key: ClassKey,
  { seconds, nowSeconds }: { seconds: number; nowSeconds: number },
): Promise<void> {
  const sums = sumsOf(seconds)
  const ttl = nowSeconds + UNUSED_SECONDS_MAX
  const Key = tableKeys.generationTimes(key.channelId, key.className)
  const values = { ':window': WINDOW_SAMPLES }
  const hasRoom = { condition: 'attribute_not_exists(samples) OR samples < :window', values }
  const once = { isTriedOnce: true }
  if ((await table.updateItem(change(Key, { set: { ttl }, add: sums }, [hasRoom]), once)).isWritten) {
    return
  }
  const begin = change(Key, { set: { ttl, ...sums } }, [{ condition: 'samples >= :window', values }])
  const before = 'samplesBefore = samples, logSumBefore = logSum, logSquaresBefore = logSquares'
  await table.updateItem({ ...begin, UpdateExpression: `${begin.UpdateExpression}, ${before}` }, once)
}

/** The write that lets a class begin as if so many jobs had taken so long; refused if the class has times already. */
export function seededTimes(
  key: ClassKey,
  { seconds, jobs, nowSeconds }: { readonly seconds: number; readonly jobs: number; readonly nowSeconds: number },
): TableWrite {
  const { logSum, logSquares } = sumsOf(seconds)
  const sums = { samples: jobs, logSum: jobs * logSum, logSquares: jobs * logSquares }
  const Key = tableKeys.generationTimes(key.channelId, key.className)
  const Item = { ...Key, ...sums, ttl: nowSeconds + UNUSED_SECONDS_MAX }
  return { Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' } }
}
