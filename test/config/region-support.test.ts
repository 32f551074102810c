import { describe, expect, it } from 'vitest'
import { refuseUnsupportedRegion } from '../../lib/config/region-support.ts'

const refusing =
  (region: string | undefined, emulator = false) =>
  () =>
    refuseUnsupportedRegion({ region, emulator })

describe('the region of a deployment', () => {
  it.each([
    ['us-gov-west-1', 'aws-us-gov (GovCloud)'],
    ['us-gov-east-1', 'aws-us-gov (GovCloud)'],
    ['cn-north-1', 'aws-cn (China)'],
    ['cn-northwest-1', 'aws-cn (China)'],
    ['us-isob-east-1', 'aws-iso'],
    ['eu-isoe-west-1', 'aws-iso'],
  ])('is refused at synth in %s, in one sentence that says why and where to go', (region, partition) => {
    expect(refusing(region)).toThrow(
      `the region ${region} is in the partition ${partition}, which has no CloudFront with key groups for signed video urls: deploy to a region of the partition aws, such as eu-central-1`,
    )
  })

  it.each(['us-east-1', 'eu-central-1', 'ap-southeast-4', 'il-central-1', undefined])('may be %s', (region) => {
    expect(refusing(region)).not.toThrow()
  })

  it('does not matter on an emulator, which has no CDN', () => {
    expect(refusing('cn-north-1', true)).not.toThrow()
  })
})
