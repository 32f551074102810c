import { environmentVariable } from '../environment.ts'
import { once } from '../once.ts'
import { videoDelivery } from './video-delivery.ts'

/** Loaded when it is first needed: few jobs are deleted, and every cold start would pay for the client. */
const openClient = once(async () => {
  const { CloudFrontClient, CreateInvalidationCommand } = await import('./cdn-client.ts')
  return { client: new CloudFrontClient({}), CreateInvalidationCommand }
})

/** Makes the CDN forget a deleted video, where there is one. Repeating it for one key is one invalidation. */
export async function invalidateVideo(videoKey: string): Promise<void> {
  if (videoDelivery() === 'bucket') {
    return
  }
  const { client, CreateInvalidationCommand } = await openClient()
  await client.send(
    new CreateInvalidationCommand({
      DistributionId: environmentVariable('DISTRIBUTION_ID'),
      InvalidationBatch: { CallerReference: videoKey, Paths: { Quantity: 1, Items: [`/${videoKey}`] } },
    }),
  )
}
