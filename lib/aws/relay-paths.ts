import { Aws, Duration } from 'aws-cdk-lib'
import {
  type AddBehaviorOptions,
  CacheHeaderBehavior,
  CachePolicy,
  type Distribution,
  FunctionUrlOriginAccessControl,
  Signing,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { CfnResourcePolicy } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS } from '#core/cdn/front-door.ts'
import { isRelayed, ROUTES } from '#core/contract/routes.ts'
import { accountWide } from './front-door-names.ts'
import type { FrontDoorSecret } from './front-door-secret.ts'
import type { RelayWebFunction } from './relay-web-function.ts'

/** Below the 65 seconds for which the relay server keeps an idle connection. */
const KEEP_ALIVE_SECONDS = 60

/** The paths of the relay server: each relayed route by its exact path, and the models. */
export const RELAY_PATHS: readonly string[] = [
  ...ROUTES.filter(isRelayed).map(({ path }) => path),
  '/v1/models',
  '/v1/models/*',
]

type RelayPathsProps = {
  readonly distribution: Distribution
  readonly relay: RelayWebFunction
  /** Of the API's paths: nothing cached, compressed or left out, and the address of the viewer. */
  readonly behavior: AddBehaviorOptions
  readonly secret: FrontDoorSecret
  readonly hasOriginAccessControl: boolean
}

/** Sends relayed requests of the front door to the Web Function. */
export function addRelayPaths(
  scope: Construct,
  { distribution, relay, behavior, secret, hasOriginAccessControl }: RelayPathsProps,
): void {
  const control = hasOriginAccessControl ? signRequests(scope, { distribution, relay }) : undefined
  const origin = new HttpOrigin(relay.endpoint.attrDomainName, {
    readTimeout: Duration.seconds(FRONT_DOOR_SILENCE_SECONDS),
    keepaliveTimeout: Duration.seconds(KEEP_ALIVE_SECONDS),
    customHeaders: { [FRONT_DOOR_HEADER]: secret.sent },
    ...(control === undefined ? {} : { originAccessControlId: control.originAccessControlId }),
  })
  const options = control === undefined ? behavior : { ...behavior, cachePolicy: keepAuthorization(scope) }
  for (const path of RELAY_PATHS) {
    distribution.addBehavior(path, origin, options)
  }
}

/** Signs in headers of its own, so that the key of the client stays in `Authorization`. */
function signRequests(
  scope: Construct,
  { distribution, relay }: Pick<RelayPathsProps, 'distribution' | 'relay'>,
): FunctionUrlOriginAccessControl {
  const { distributionId } = distribution
  new CfnResourcePolicy(scope, 'RelayAccess', {
    resourceArn: relay.functionArn,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: 'cloudfront.amazonaws.com' },
          Action: 'lambda:InvokeWebFunctionEndpoint',
          Resource: relay.endpoint.attrEndpointArn,
          Condition: {
            ArnLike: {
              'aws:SourceArn': `arn:${Aws.PARTITION}:cloudfront::${Aws.ACCOUNT_ID}:distribution/${distributionId}`,
            },
          },
        },
      ],
    },
  })
  return new FunctionUrlOriginAccessControl(scope, 'RelayOriginAccess', {
    originAccessControlName: accountWide('relay'),
    signing: Signing.SIGV4_ALWAYS_AMZ_AUTH,
  })
}

/**
 * CloudFront forwards `Authorization` of a GET to a signed origin only as a part of the cache key, which a policy without any caching
 * cannot have. Nothing is kept all the same: no response of the relay server says that it may be.
 */
function keepAuthorization(scope: Construct): CachePolicy {
  return new CachePolicy(scope, 'RelayCache', {
    cachePolicyName: accountWide('relay'),
    minTtl: Duration.seconds(0),
    defaultTtl: Duration.seconds(0),
    maxTtl: Duration.seconds(1),
    headerBehavior: CacheHeaderBehavior.allowList('Authorization'),
  })
}
