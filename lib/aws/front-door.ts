import { Duration, Stack } from 'aws-cdk-lib'
import {
  AllowedMethods,
  CachePolicy,
  type Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  OriginRequestPolicy,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Construct } from 'constructs'
import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS } from '#core/http.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { createConsoleHeadersPolicy } from './console-headers-policy.ts'
import { ConsoleSite } from './console-site.ts'
import { consolePathCode, VIEWER_ADDRESS_CODE } from './front-door-functions.ts'
import { logFrontDoor } from './front-door-log.ts'
import { accountWide } from './front-door-names.ts'
import type { FrontDoorSecret } from './front-door-secret.ts'
import type { FunctionSources } from './function-sources.ts'
import type { GatewayApi } from './gateway-api.ts'
import { filesBesideThePage } from './pack-console.ts'
import type { RelayWebFunction } from './relay-web-function.ts'

/** Paths of the API. Signed videos keep every other path. */
const API_PATHS = ['/admin/*', '/v1/*', '/health', '/openapi.json'] as const
const CONSOLE_PATHS = ['/console', '/console/*'] as const

/** Connections to the API are kept for the next request: a new one costs two round trips. */
const KEEP_ALIVE_SECONDS = 60
/** The longest time that the console's files ask for. */
const CACHE_DAYS_MAX = 365

type FrontDoorProps = {
  /** The distribution of the videos, whose default behavior stays as it is. */
  readonly distribution: Distribution
  readonly secret: FrontDoorSecret
  readonly sources: FunctionSources
  readonly api: GatewayApi
  /** The Web Function of relayed requests; undefined where the API has them. */
  readonly relay: RelayWebFunction | undefined
  readonly settings: StageSettings
}

/**
 * Makes the distribution of the videos the front door: one origin for the console, its API and the API. Nothing of the API is cached,
 * compressed or cut before two minutes of silence.
 */
export class FrontDoor extends Construct {
  constructor(scope: Construct, id: string, props: FrontDoorProps) {
    super(scope, id)
    const { frontDoor, frontDoorLog } = props.settings
    const webAclArn = frontDoor?.webAclArn
    if (webAclArn !== undefined) {
      props.distribution.attachWebAclId(webAclArn)
    }
    // A stage in another region has the log in the stack of its front door.
    if (frontDoorLog && Stack.of(this).region === CLOUDFRONT_REGION) {
      logFrontDoor(this, props.distribution.distributionId)
    }
    this.#serveConsole(props)
    this.#serveApi(props)
  }

  #serveConsole({ distribution, sources }: FrontDoorProps): void {
    const { bucket } = new ConsoleSite(this, 'ConsoleSite', sources)
    const origin = S3BucketOrigin.withOriginAccessControl(bucket, {
      originAccessControl: new S3OriginAccessControl(this, 'OriginAccess', {
        originAccessControlName: accountWide('console'),
      }),
    })
    const behavior = {
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      cachePolicy: this.#cacheAsFilesSay(),
      compress: true,
      responseHeadersPolicy: createConsoleHeadersPolicy(this),
      functionAssociations: [
        this.#before('ConsolePath', 'console', consolePathCode(filesBesideThePage(sources.consoleFolder))),
      ],
    }
    for (const path of CONSOLE_PATHS) {
      distribution.addBehavior(path, origin, behavior)
    }
  }

  #serveApi({ distribution, api, relay, secret }: FrontDoorProps): void {
    const { domainName, path: originPath } = api.origin
    const origin = new HttpOrigin(domainName, {
      ...(originPath === '' ? {} : { originPath }),
      readTimeout: Duration.seconds(FRONT_DOOR_SILENCE_SECONDS),
      keepaliveTimeout: Duration.seconds(KEEP_ALIVE_SECONDS),
      customHeaders: { [FRONT_DOOR_HEADER]: secret.sent },
    })
    const behavior = {
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // API Gateway finds the API by the host of the origin.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      compress: false,
      functionAssociations: [this.#before('ViewerAddress', 'api', VIEWER_ADDRESS_CODE)],
    }
    // Before the paths of the API: CloudFront takes the first pattern that matches.
    relay?.addPathsTo(distribution, behavior)
    for (const path of API_PATHS) {
      distribution.addBehavior(path, origin, behavior)
    }
  }

  /** Keeps what a file allows by `cache-control`: hashed files for a year, the page not at all. */
  #cacheAsFilesSay(): CachePolicy {
    return new CachePolicy(this, 'Cache', {
      cachePolicyName: accountWide('console'),
      minTtl: Duration.seconds(0),
      defaultTtl: Duration.seconds(0),
      maxTtl: Duration.days(CACHE_DAYS_MAX),
      enableAcceptEncodingGzip: true,
      enableAcceptEncodingBrotli: true,
    })
  }

  #before(id: string, name: string, code: string) {
    const edgeFunction = new EdgeFunction(this, id, {
      functionName: accountWide(name),
      code: FunctionCode.fromInline(code),
      runtime: FunctionRuntime.JS_2_0,
    })
    return { eventType: FunctionEventType.VIEWER_REQUEST, function: edgeFunction }
  }
}
