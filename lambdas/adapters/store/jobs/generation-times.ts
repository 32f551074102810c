import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod/mini'
import { sumsOf, type UsualSeconds, usualSeconds, WINDOW_SAMPLES } from '#core/jobs/generation-times.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** A class of jobs within a channel (lambdas/core/jobs/generation-times.ts). */
type ClassKey = { readonly channelId: string; readonly className: string }

/** A class without a finished job for so long is forgotten: by then its jobs may take any time. */
const UNUSED_SECONDS_MAX = 30 * 24 * 60 * 60

/** The sums of the current window, and of the full one before it. */
const timesItem = z.object({
  samples: z.number(),
  logSum: z.number(),
  logSquares: z.number(),
  samplesBefore: z._default(z.number(), 0),
  logSumBefore: z._default(z.number(), 0),
  logSquaresBefore: z._default(z.number(), 0),
})

/**
 * What is usual for a class; undefined while too little is known. Half a read unit and one try: a guess is not worth a wait.
 * @throws when the table does not answer.
 */
export async function readUsualSeconds(table: Table, key: ClassKey): Promise<UsualSeconds | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: tableKeys.generationTimes(key.channelId, key.className) }),
  )
  if (Item === undefined) {
    return undefined
  }
  const { samplesBefore, logSumBefore, logSquaresBefore, ...current } = timesItem.parse(Item)
  return usualSeconds([current, { samples: samplesBefore, logSum: logSumBefore, logSquares: logSquaresBefore }])
}

/**
 * Adds one finished job to its class without reading it, so that jobs that finish at once all count. A full window becomes
 * the one before it; the sample of whoever loses that change to another is dropped, and one whose reply was lost may count
 * twice. One try, as for reading.
 * @throws when the table does not answer.
 */
export async function addGenerationTime(
  table: Table,
  key: ClassKey,
  { seconds, nowSeconds }: { seconds: number; nowSeconds: number },
): Promise<void> {
  const { samples, logSum, logSquares } = sumsOf(seconds)
  const common = {
    TableName: table.name,
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
  if (await update(table, { ...common, UpdateExpression: join, ConditionExpression: hasRoom })) {
    return
  }
  const isFull = 'samples >= :window'
  const before = 'samplesBefore = samples, logSumBefore = logSum, logSquaresBefore = logSquares'
  const begin = `SET #ttl = :ttl, ${before}, samples = :samples, logSum = :logSum, logSquares = :logSquares`
  await update(table, { ...common, UpdateExpression: begin, ConditionExpression: isFull })
}

/** @returns false when the condition did not hold. */
async function update(table: Table, input: UpdateCommandInput): Promise<boolean> {
  try {
    await table.client.send(new UpdateCommand(input))
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) {
      return false
    }
    throw error
  }
}
