import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront'
import { expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { invalidateVideo } from '#adapters/cdn/invalidate-video.ts'

it('takes one object out of the CDN, under a reference that makes a repeat the same invalidation', async () => {
  process.env.DISTRIBUTION_ID = 'D1'
  const cdn = mockClient(CloudFrontClient).resolves({})
  await invalidateVideo('v/00ff/job.mp4')
  await invalidateVideo('v/00ff/job.mp4')
  const inputs = cdn.commandCalls(CreateInvalidationCommand).map(({ args: [{ input }] }) => input)
  expect(inputs).toEqual([inputs[0], inputs[0]])
  expect(inputs[0]).toEqual({
    DistributionId: 'D1',
    InvalidationBatch: { CallerReference: 'v/00ff/job.mp4', Paths: { Quantity: 1, Items: ['/v/00ff/job.mp4'] } },
  })
})
