import { StageSettingsError } from './stage-settings-error.ts'

/** Regions by the beginning of their names, and what AWS calls the partition that they belong to. */
const PARTITIONS_WITHOUT_CDN = [
  { name: /^cn-/, partition: 'aws-cn (China)' },
  { name: /^us-gov-/, partition: 'aws-us-gov (GovCloud)' },
  { name: /^(us-iso[a-z]*|eu-iso[a-z]*)-/, partition: 'aws-iso' },
] as const

type RegionOptions = {
  /** Of the stack, where it is known. */
  readonly region: string | undefined
  /** Stacks on an emulator of AWS have no CDN, so that the region is only a name. */
  readonly emulator: boolean
}

/**
 * Refuses regions whose partition lacks what serves the videos: CloudFront that verifies signed urls by key groups.
 * CloudFormation would find that out after it had made half of the stack.
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
