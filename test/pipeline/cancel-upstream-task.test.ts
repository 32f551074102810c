import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { FAILURE_TEXT, isCancelledByOperator, type VideoJob } from '#core/jobs/video-job.ts'
import { cancelUnwantedTask, cancelUpstreamTask } from '#lambdas/pipeline/cancel-upstream-task.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { ScriptedUpstream } from '../engines/pipeline.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { videoJobRecord } from '../engines/video-jobs.ts'
import { setTestLogging } from '../logs/test-logging.ts'

setTestLogging()

const CANCELLED = {
  status: 'failed',
  error: FAILURE_TEXT.cancelledByOperator,
  channelId: 'main',
  taskId: 'task-1',
} as const

const dynamo = mockClient(DynamoDBDocumentClient)
const table = openTable({ name: 'table' })

let upstream: ScriptedUpstream
beforeEach(() => {
  dynamo.reset()
  dynamo.on(UpdateCommand).resolves({})
  upstream = new ScriptedUpstream()
})

const cancel = (changes: Partial<VideoJob>) =>
  cancelUpstreamTask(videoJobRecord(changes), {
    catalogue: testCatalogue(),
    openAccount: (channel) => upstream.open(channel),
  })

describe('cancelUpstreamTask', () => {
  it('cancels the task of a job that the operator has cancelled', async () => {
    await cancel(CANCELLED)
    expect(upstream.cancelled).toEqual(['task-1'])
  })

  it.each<[string, Partial<VideoJob>]>([
    ['has failed otherwise', { error: 'generation timed out' }],
    ['was never accepted', { taskId: undefined }],
    ['was never submitted', { channelId: undefined }],
    ['has finished upstream', { finishedAt: 1 }],
    ['belongs to a channel that is no longer configured', { channelId: 'gone' }],
  ])('asks nothing of the upstream for a job that %s', async (_, changes) => {
    await cancel({ ...CANCELLED, ...changes })
    expect(upstream.cancelled).toEqual([])
  })

  it('does not throw when the upstream or its credential fails', async () => {
    upstream.script.cancel = () => Promise.reject(new Error('no connection'))
    await cancel(CANCELLED)
    upstream.closed.add('main')
    await cancel(CANCELLED)
  })
})

describe('cancelUnwantedTask', () => {
  it.each([
    ['cancelled', true, 'failure', 'deleted by the client'],
    ['cancelled', false, 'failure', 'cancelled by the client'],
    ['refused', false, 'isCancelRefused', true],
    ['unknown', false, undefined, undefined],
  ] as const)('records %s of a job that was deleted: %s', async (outcome, isDeleted, field, value) => {
    const job = { tenantId: 't', jobId: 'j', isDeleted }
    const account = { cancel: async () => outcome }
    expect(await cancelUnwantedTask({ job, taskId: 'task-1', account }, { table })).toBe(outcome)
    const written = dynamo.commandCalls(UpdateCommand).map(({ args: [{ input }] }) => ({
      field: /SET #(\w+) =/.exec(input.UpdateExpression ?? '')?.[1],
      value: Object.values(input.ExpressionAttributeValues ?? {}).at(-1),
    }))
    expect(written).toEqual(field === undefined ? [] : [{ field, value }])
  })
})

describe('isCancelledByOperator', () => {
  it('is true only for a failed job with that error', () => {
    expect(isCancelledByOperator(CANCELLED)).toBe(true)
    expect(isCancelledByOperator({ ...CANCELLED, status: 'succeeded' })).toBe(false)
    expect(isCancelledByOperator({ ...CANCELLED, error: 'no' })).toBe(false)
  })
})
