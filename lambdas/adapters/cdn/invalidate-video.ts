import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront'
import { environmentVariable } from '../environment.ts'
import { once } from '../once.ts'

const client = once(() => new CloudFrontClient({}))

/** Makes the CDN forget a deleted video. Repeating it for one key is one invalidation. */
export async function invalidateVideo(videoKey: string): Promise<void> {
  await client().send(
    new CreateInvalidationCommand({
      DistributionId: environmentVariable('DISTRIBUTION_ID'),
      InvalidationBatch: { CallerReference: videoKey, Paths: { Quantity: 1, Items: [`/${videoKey}`] } },
    }),
  )
}
