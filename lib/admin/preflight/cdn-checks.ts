import {
  CloudFrontClient,
  ListDistributionsCommand,
  ListKeyGroupsCommand,
  ListOriginAccessControlsCommand,
  ListPublicKeysCommand,
  ListResponseHeadersPoliciesCommand,
} from '@aws-sdk/client-cloudfront'
import { type Finding, fine, wrong } from '../health/finding.ts'

/** The quota of each kind for a new account (CloudFront, "Quotas on signed URLs"). */
const KEYS_MAX = 10
/** Page size of the lists: more than an account may have. */
const LISTED_MAX = 100

/** Whether the account may have distributions. CloudFront reports that only when one is created. */
export async function checkCloudFront(): Promise<Finding[]> {
  const { DistributionList } = await new CloudFrontClient({}).send(new ListDistributionsCommand({ MaxItems: 1 }))
  return [
    (DistributionList?.Items?.length ?? 0) > 0
      ? fine('cloudfront', 'the account has distributions, so it is verified')
      : fine(
          'cloudfront',
          'no distribution yet: only the first one shows whether AWS has verified the account; on the error "Your account must be verified", open a case with AWS Support',
        ),
  ]
}

/** Whether a first deployment finds room and free names for its signing keys and policies, whose names are unique in an account. */
export async function checkCdnNames(stackName: string, region: string): Promise<Finding[]> {
  const client = new CloudFrontClient({})
  const [groups, keys, controls, policies] = await Promise.all([
    client.send(new ListKeyGroupsCommand({ MaxItems: LISTED_MAX })),
    client.send(new ListPublicKeysCommand({ MaxItems: LISTED_MAX })),
    client.send(new ListOriginAccessControlsCommand({ MaxItems: LISTED_MAX })),
    client.send(new ListResponseHeadersPoliciesCommand({ Type: 'custom', MaxItems: LISTED_MAX })),
  ])
  const groupNames = groups.KeyGroupList?.Items?.map(({ KeyGroup }) => KeyGroup?.KeyGroupConfig?.Name) ?? []
  const videos = `${stackName}-videos-${region}`
  const own = {
    'key group': `${stackName}-video-urls-${region}`,
    'origin access control': videos,
    'response headers policy': videos,
  }
  const names = {
    'key group': groupNames,
    'origin access control': controls.OriginAccessControlList?.Items?.map(({ Name }) => Name) ?? [],
    'response headers policy':
      policies.ResponseHeadersPolicyList?.Items?.map(
        ({ ResponseHeadersPolicy }) => ResponseHeadersPolicy?.ResponseHeadersPolicyConfig?.Name,
      ) ?? [],
  }
  const kinds = ['key group', 'origin access control', 'response headers policy'] as const
  const taken = kinds.flatMap((kind) =>
    names[kind].includes(own[kind])
      ? [wrong('cdn names', `the ${kind} ${own[kind]} exists already`, 'Delete it in the CloudFront console.')]
      : [],
  )
  const counts = { 'key groups': groupNames.length, 'public keys': keys.PublicKeyList?.Items?.length ?? 0 }
  const full = Object.entries(counts).flatMap(([kind, count]) =>
    count < KEYS_MAX
      ? []
      : [
          wrong(
            'cdn keys',
            `the account has ${count} ${kind}, of ${KEYS_MAX} unless its quota was raised`,
            'Delete unused ones, or raise the quota.',
          ),
        ],
  )
  return taken.length + full.length > 0
    ? [...taken, ...full]
    : [fine('cdn names', `free, with ${counts['key groups']} key groups and ${counts['public keys']} public keys`)]
}
