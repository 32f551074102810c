import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { expect, it } from 'vitest'
import { recountChannels } from '#lambdas/pipeline/reconcile/recount-channels.ts'
import { readChannelCount, setChannelCount } from '#store/jobs/channels.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'

const engines = useOpened(startEngines)

it('mends nothing by half a count: out of time, it says so and leaves every count as it is', async () => {
  const pipeline = await engines.pipeline()
  const { table } = pipeline.context
  for (const _ of ['one', 'two']) {
    const job = await pipeline.create()
    const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
    await claimSubmit(table, { job, channel, nowSeconds: job.createdAt })
  }
  expect(await setChannelCount(table, 'main', { open: 7, version: 2 })).toBe(true)
  let reads = 0
  const hasTimeForOne = () => {
    reads += 1
    return reads === 1
  }
  await expect(recountChannels(pipeline.context, hasTimeForOne)).rejects.toMatchObject({
    name: 'RecountUnfinishedError',
  })
  expect(await readChannelCount(table, 'main')).toMatchObject({ open: 7 })
  await recountChannels(pipeline.context, () => true)
  expect(await readChannelCount(table, 'main')).toMatchObject({ open: 2 })
})

it('mends nothing by a count that a second one does not confirm: the index lags', async () => {
  const pipeline = await engines.pipeline()
  const { table } = pipeline.context
  const job = await pipeline.create()
  const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
  await claimSubmit(table, { job, channel, nowSeconds: job.createdAt })
  expect(await setChannelCount(table, 'main', { open: 2, version: 1 })).toBe(true)
  let pauses = 0
  const pause = async () => {
    pauses += 1
    // Between the two counts the job is seen elsewhere, without a move of the channel's own count.
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.job(job.tenantId, job.jobId),
        UpdateExpression: 'REMOVE channelId',
      }),
    )
  }
  await recountChannels({ ...pipeline.context, pause }, () => true)
  expect(pauses).toBe(1)
  expect(await readChannelCount(table, 'main')).toMatchObject({ open: 2 })
})
