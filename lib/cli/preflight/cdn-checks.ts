import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm'
import {
  CloudFrontClient,
  ListCachePoliciesCommand,
  ListDistributionsCommand,
  ListFunctionsCommand,
  ListKeyGroupsCommand,
  ListOriginAccessControlsCommand,
  ListPublicKeysCommand,
  ListResponseHeadersPoliciesCommand,
} from '@aws-sdk/client-cloudfront'
import { WEB_ACL_PRICE } from '../../config/context-settings.ts'
import type { CustomDomain } from '../../config/stage-settings.ts'
import { type Finding, fine, warning, wrong } from '../findings.ts'
import type { Place } from './account-checks.ts'

/** The quota of each kind for a new account (CloudFront, "Quotas on signed URLs"). */
const KEYS_MAX = 10
/** The quotas of custom policies in an account (CloudFront, "Quotas on policies"). */
const POLICIES_MAX = 20
/** Page size of the lists: more than an account may have. */
const LISTED_MAX = 100

/** Whether the account may have distributions. CloudFront reports that only when one is created. */
export async function checkCloudFront(): Promise<Finding[]> {
  const { DistributionList } = await new CloudFrontClient({}).send(new ListDistributionsCommand({ MaxItems: 1 }))
  return [
    (DistributionList?.Items?.length ?? 0) > 0
      ? fine('cloudfront', 'the account has distributions, so it is verified')
      : warning(
          'cloudfront',
          'the account has no distribution: only the first one shows whether AWS has verified the account',
          'If the deployment ends with "Your account must be verified before you can add new CloudFront resources", open a case with AWS Support (Account verification), and deploy with `-c cdn=off` until it is solved.',
        ),
  ]
}

type CdnNames = { readonly region: string; readonly hasFrontDoor: boolean }

/** Names of CloudFront that are unique in an account: those that exist, and the parts of those that a stack creates. */
type Kind = { readonly existing: readonly (string | undefined)[]; readonly own: readonly string[] }

/** Whether a first deployment finds room and free names for its signing keys and policies. */
export async function checkCdnNames(stackName: string, { region, hasFrontDoor }: CdnNames): Promise<Finding[]> {
  const client = new CloudFrontClient({})
  const all = { MaxItems: LISTED_MAX }
  const [groups, keys, controls, policies, caches, functions] = await Promise.all([
    client.send(new ListKeyGroupsCommand(all)),
    client.send(new ListPublicKeysCommand(all)),
    client.send(new ListOriginAccessControlsCommand(all)),
    client.send(new ListResponseHeadersPoliciesCommand({ Type: 'custom', ...all })),
    client.send(new ListCachePoliciesCommand({ Type: 'custom', ...all })),
    client.send(new ListFunctionsCommand(all)),
  ])
  const keyGroups = groups.KeyGroupList?.Items ?? []
  const headersPolicies = policies.ResponseHeadersPolicyList?.Items ?? []
  const cachePolicies = caches.CachePolicyList?.Items ?? []
  const ofFrontDoor = (...parts: string[]) => (hasFrontDoor ? parts : [])
  const kinds: Readonly<Record<string, Kind>> = {
    'key group': { existing: keyGroups.map(({ KeyGroup }) => KeyGroup?.KeyGroupConfig?.Name), own: ['video-urls'] },
    'origin access control': {
      existing: controls.OriginAccessControlList?.Items?.map(({ Name }) => Name) ?? [],
      own: ['videos', ...ofFrontDoor('console')],
    },
    'response headers policy': {
      existing: headersPolicies.map((each) => each.ResponseHeadersPolicy?.ResponseHeadersPolicyConfig?.Name),
      own: ['videos', ...ofFrontDoor('console')],
    },
    'cache policy': {
      existing: cachePolicies.map(({ CachePolicy }) => CachePolicy?.CachePolicyConfig?.Name),
      own: ofFrontDoor('console'),
    },
    'CloudFront function': {
      existing: functions.FunctionList?.Items?.map(({ Name }) => Name) ?? [],
      own: ofFrontDoor('console', 'api'),
    },
  }
  const taken = Object.entries(kinds).flatMap(([kind, { existing, own }]) =>
    own
      .map((part) => `${stackName}-${part}-${region}`)
      .filter((name) => existing.includes(name))
      .map((name) => wrong('cdn names', `the ${kind} ${name} exists already`, 'Delete it in the CloudFront console.')),
  )
  const counts = { 'key groups': keyGroups.length, 'public keys': keys.PublicKeyList?.Items?.length ?? 0 }
  const policyCounts = { 'cache policies': cachePolicies.length, 'response headers policies': headersPolicies.length }
  const found = [
    ...taken,
    ...fullKinds('cdn keys', counts, KEYS_MAX),
    ...(hasFrontDoor ? fullKinds('cdn policies', policyCounts, POLICIES_MAX) : []),
  ]
  return found.length > 0
    ? found
    : [fine('cdn names', `free, with ${counts['key groups']} key groups and ${counts['public keys']} public keys`)]
}

/** Kinds of which the account has as many as a new account may have. */
function fullKinds(check: string, counts: Readonly<Record<string, number>>, max: number): Finding[] {
  return Object.entries(counts).flatMap(([kind, count]) =>
    count < max
      ? []
      : [
          wrong(
            check,
            `the account has ${count} ${kind}, of ${max} unless its quota was raised`,
            'Delete unused ones, or raise the quota.',
          ),
        ],
  )
}

/** What the web ACL of the API adds, and what it costs. */
export function tellWebAcl(hasWebAcl: boolean): Finding[] {
  return [
    fine(
      'web acl',
      hasWebAcl
        ? `limits each address and blocks known attacks, for ${WEB_ACL_PRICE}`
        : `none; -c waf=on limits each address and blocks known attacks, for ${WEB_ACL_PRICE}`,
    ),
  ]
}

/** Whether the web ACL of the front door is in the account of the distribution, as CloudFront requires. */
export function checkFrontDoorAcl(webAclArn: string, account: string): Finding[] {
  const [, , , , owner] = webAclArn.split(':')
  return owner === account
    ? [fine('web acl', 'the web ACL of the front door is in the account of the stack')]
    : [
        wrong(
          'web acl',
          `the web ACL of the front door belongs to account ${owner}, and the stack to ${account}`,
          'Create one in the account of the stack (docs/deploy.md, "The web ACL of the front door").',
        ),
      ]
}

type CertificateOptions = Pick<Place, 'account'> & { readonly nowMilliseconds: number }

/** Whether the certificate of a custom name is issued, covers the name and belongs to this account. */
export async function checkCertificate(
  { domainName, certificateArn }: CustomDomain,
  { account, nowMilliseconds }: CertificateOptions,
): Promise<Finding[]> {
  const [, , , region = '', owner] = certificateArn.split(':')
  if (owner !== account) {
    const found = `the certificate of ${domainName} belongs to account ${owner}, and the stack to ${account}`
    return [wrong('certificate', found, 'Issue or import one in the account of the stack.')]
  }
  const client = new ACMClient({ region })
  const { Certificate = {} } = await client.send(new DescribeCertificateCommand({ CertificateArn: certificateArn }))
  const { Status = 'unknown', SubjectAlternativeNames = [], NotAfter } = Certificate
  if (Status !== 'ISSUED') {
    const advice =
      'Create the DNS records that ACM asks for, and wait until it is issued; request a new one if it failed or expired.'
    return [wrong('certificate', `the certificate of ${domainName} is ${Status}`, advice)]
  }
  if (!SubjectAlternativeNames.some((name) => covers(name, domainName))) {
    const found = `the certificate is for ${SubjectAlternativeNames.join(', ')}, not for ${domainName}`
    return [wrong('certificate', found, 'Use a certificate that covers the name.')]
  }
  const hasEnded = NotAfter !== undefined && NotAfter.getTime() <= nowMilliseconds
  return [
    hasEnded
      ? wrong('certificate', `the certificate of ${domainName} has expired`, 'Renew it, or import another.')
      : fine('certificate', `the certificate of ${domainName} in ${region} is issued`),
  ]
}

/** A wildcard matches one label. */
function covers(pattern: string, domainName: string): boolean {
  return pattern === domainName || (pattern.startsWith('*.') && domainName.replace(/^[^.]+/, '*') === pattern)
}
