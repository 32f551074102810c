import { StageSettingsError } from './stage-settings-error.ts'

/** Partitions without CloudFront, and the beginnings of the names of their regions. */
const PARTITIONS_WITHOUT_CDN = [
  { name: /^cn-/, partition: 'aws-cn (China)' },
  { name: /^us-gov-/, partition: 'aws-us-gov (GovCloud)' },
  { name: /^(us-iso[a-z]*|eu-iso[a-z]*)-/, partition: 'aws-iso' },
] as const

type RegionOptions = {
  /** Region of the stack, if known. */
  readonly region: string | undefined
  /** On an emulator of AWS, a stack has no CDN and any region will do. */
  readonly emulator: boolean
}

/**
 * Refuses regions whose partition has no CloudFront with key groups, which serves the videos. CloudFormation would fail only
 * after it had created half of the stack.
 * @throws StageSettingsError
 */
export function refuseUnsupportedRegion({ region, emulator }: RegionOptions): void {
  const found = PARTITIONS_WITHOUT_CDN.find(({ name }) => region !== undefined && name.test(region))
  if (found !== undefined && !emulator) {
    throw new StageSettingsError(
      `the region ${region} is in the partition ${found.partition}, which has no CloudFront with key groups for signed video urls: deploy to a region of the partition aws, such as eu-central-1`,
    )
  }
}
