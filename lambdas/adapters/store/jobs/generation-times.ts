import * as z from 'zod/mini'
import { sumsOf, type UsualSeconds, usualSeconds, WINDOW_SAMPLES } from '#core/jobs/waits.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

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
  const { samples, logSum, logSquares } = sumsOf(seconds)
  const common = {
    Key: tableKeys.generationTimes(key.channelId, key.className),
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':samples': samples,
      ':logSum': logSum,
      ':logSquares': logSquares,
      ':window': WINDOW_SAMPLES,
      ':ttl': nowSeconds + UNUSED_SECONDS_MAX,
    },
  }
  const hasRoom = 'attribute_not_exists(samples) OR samples < :window'
  const join = 'SET #ttl = :ttl ADD samples :samples, logSum :logSum, logSquares :logSquares'
  const joined = await table.updateItem(
    { ...common, UpdateExpression: join, ConditionExpression: hasRoom },
    { isTriedOnce: true },
  )
  if (joined.isWritten) {
    return
  }
  const isFull = 'samples >= :window'
  const before = 'samplesBefore = samples, logSumBefore = logSum, logSquaresBefore = logSquares'
  const begin = `SET #ttl = :ttl, ${before}, samples = :samples, logSum = :logSum, logSquares = :logSquares`
  await table.updateItem({ ...common, UpdateExpression: begin, ConditionExpression: isFull }, { isTriedOnce: true })
}

/** The write that lets a class begin as if so many jobs had taken so long; refused if the class has times already. */
export function seededTimes(
  key: ClassKey,
  { seconds, jobs, nowSeconds }: { readonly seconds: number; readonly jobs: number; readonly nowSeconds: number },
): TableWrite {
  const { logSum, logSquares } = sumsOf(seconds)
  return {
    Put: {
      Item: {
        ...tableKeys.generationTimes(key.channelId, key.className),
        ...{ samples: jobs, logSum: jobs * logSum, logSquares: jobs * logSquares },
        ttl: nowSeconds + UNUSED_SECONDS_MAX,
      },
      ConditionExpression: 'attribute_not_exists(PK)',
    },
  }
}
