import { describe, expect, it } from 'vitest'
import { readVideoJobItem, storedTextAttributes } from '#adapters/store/jobs/video-job-item.ts'

/** The smallest item of a job, as a create writes it. */
const ITEM = {
  PK: 'T#tenant',
  SK: 'JOB#job',
  status: 'queued',
  model: 'famB-1.0-t2v',
  createdAt: 1,
  expiresAt: 2,
  videoKey: 'v/1/job.mp4',
  estimate: 700_000,
}

describe('video-job-item', () => {
  it('a new job is not deleted, waits for no channel and has no strings of an upstream', () => {
    expect(readVideoJobItem(ITEM)).toMatchObject({
      tenantId: 'tenant',
      jobId: 'job',
      estimate: 700_000n,
      isDeleted: false,
      isWaitingForChannel: false,
      isCancelRefused: false,
      goneCount: 0,
      submitText: undefined,
      pollText: undefined,
    })
  })

  it('an estimate beyond the exact range of a double stays exact', () => {
    expect(readVideoJobItem({ ...ITEM, estimate: 9_007_199_254_740_993n }).estimate).toBe(9_007_199_254_740_993n)
  })

  it('a duration that is null is unknown', () => {
    expect(readVideoJobItem({ ...ITEM, durationSeconds: null }).durationSeconds).toBeUndefined()
  })

  it.each([
    ['a status of no job', { status: 'paused' }],
    ['a provider of no channel', { provider: 'p9' }],
    ['the key of another item', { SK: 'HOLD#job' }],
    ['no estimate', { estimate: undefined }],
  ])('an item with %s is refused', (_, changes) => {
    expect(() => readVideoJobItem({ ...ITEM, ...changes })).toThrow()
  })

  it.each([{ inline: '{"task_id":"1"}' }, { inline: '' }, { bucketKey: 'texts/tenant/job/submit.json' }])(
    'the stored string %j replaces an older one of either form, and is read as it was written',
    (text) => {
      const { set, remove, value } = storedTextAttributes('submitText', text)
      const older: Record<string, unknown> = { ...ITEM, submitText: 'older', submitTextKey: 'older' }
      delete older[remove]
      expect(readVideoJobItem({ ...older, [set]: value }).submitText).toEqual(text)
    },
  )
})
