import { createHash } from 'node:crypto'
import { CustomResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import {
  AllowedMethods,
  CachePolicy,
  type Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersReferrerPolicy,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  type ResponseSecurityHeadersBehavior,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Grant } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS, VIEWER_ADDRESS_HEADER } from '#core/http.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { consoleHeaders } from '../console/console-files.ts'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { createPrivateBucket } from './buckets.ts'
import { filesBesideThePage, packConsole } from './function-code.ts'
import type { FunctionSources } from './function-sources.ts'
import type { GatewayApi } from './gateway-api.ts'
import { GatewayFunction } from './gateway-function.ts'
import { logFrontDoor } from './logs.ts'
import type { RelayWebFunction } from './relay-web-function.ts'
import type { FrontDoorSecret } from './secrets.ts'
import { accountWide } from './video-delivery.ts'

const override = true

/** The security headers that CloudFront accepts in no other form. */
const SECURITY_HEADERS: Readonly<Record<string, (value: string) => ResponseSecurityHeadersBehavior>> = {
  'content-security-policy': (contentSecurityPolicy) => ({
    contentSecurityPolicy: { contentSecurityPolicy, override },
  }),
  'referrer-policy': (value) => ({ referrerPolicy: { referrerPolicy: referrerPolicyOf(value), override } }),
  'x-content-type-options': () => ({ contentTypeOptions: { override } }),
  'strict-transport-security': (value) => ({
    strictTransportSecurity: {
      accessControlMaxAge: Duration.seconds(Number(/max-age=(\d+)/.exec(value)?.[1])),
      includeSubdomains: value.includes('includeSubDomains'),
      override,
    },
  }),
}

/** The headers of the console (`lib/console/console-files.ts`) as a policy of CloudFront. */
function createConsoleHeadersPolicy(scope: Construct): ResponseHeadersPolicy {
  const headers = Object.entries(consoleHeaders({ isTls: true }))
  const security = headers.flatMap(([name, value]) => SECURITY_HEADERS[name]?.(value) ?? [])
  const others = headers.filter(([name]) => SECURITY_HEADERS[name] === undefined)
  return new ResponseHeadersPolicy(scope, 'Headers', {
    responseHeadersPolicyName: accountWide('console'),
    securityHeadersBehavior: Object.assign({}, ...security),
    customHeadersBehavior: { customHeaders: others.map(([header, value]) => ({ header, value, override })) },
  })
}

function referrerPolicyOf(value: string): HeadersReferrerPolicy {
  const found = Object.values(HeadersReferrerPolicy).find((each) => each === value)
  if (found === undefined) {
    throw new TypeError(`CloudFront knows no referrer policy ${value}`)
  }
  return found
}

/** Covers a minute of retries until IAM knows new permissions, the writes, and the response. */
const TIMEOUT_SECONDS = 120
/** Covers Lambda's two retries of the event, after one and two minutes. */
const RESPONSE_MINUTES = 10
const MEMORY_MEGABYTES = 512

/**
 * The private bucket of the console, and the function that fills it at each deployment. CDK's own construct for this brings the AWS
 * CLI, with a role for all buckets; this function writes into its own bucket alone.
 */
export class ConsoleSite extends Construct {
  readonly bucket: IBucket

  constructor(scope: Construct, id: string, sources: FunctionSources) {
    super(scope, id)
    this.bucket = createPrivateBucket(this, {
      // Each deployment writes its content again.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    acknowledge(this, 'The bucket holds the public files of the console, which are the same in every deployment.', 'S1')
    this.#fill(sources)
  }

  #fill(sources: FunctionSources): void {
    const writer = new GatewayFunction(this, 'Writer', {
      sources,
      folder: 'console-files',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: ['console.json'],
    })
    writer.setEnvironment({ BUCKET_NAME: this.bucket.bucketName })
    const objects = this.bucket.arnForObjects('console/*')
    acknowledgeWildcard(writer, 'Files of the console are named by the hash of their content.', objects)
    const grants = [
      Grant.addToPrincipal({
        grantee: writer,
        actions: ['s3:PutObject', 's3:DeleteObject'],
        resourceArns: [objects],
      }),
      Grant.addToPrincipal({
        grantee: writer,
        actions: ['s3:ListBucket'],
        resourceArns: [this.bucket.bucketArn],
      }),
    ]
    const files = new CustomResource(this, 'Files', {
      serviceToken: writer.function.functionArn,
      resourceType: 'Custom::ConsoleFiles',
      serviceTimeout: Duration.minutes(RESPONSE_MINUTES),
      // Another digest makes CloudFormation call the function again.
      properties: { Digest: createHash('sha256').update(packConsole(sources.consoleFolder)).digest('hex') },
    })
    for (const grant of grants) {
      grant.applyBefore(files)
    }
  }
}

/** Path of the page that shows every view of the console. */
const PAGE = '/console/index.html'

/**
 * Code of the CloudFront Function in front of the console: paths below `/console/assets/` and the named files stay, and every other path
 * shows the page, which reads the view from its address.
 * @param files paths of the files beside the page, such as `/console/icon.svg`.
 */
export function consolePathCode(files: readonly string[]): string {
  return [
    `var files = ${JSON.stringify(files)}`,
    'function handler(event) {',
    '  var request = event.request',
    "  if (request.uri.indexOf('/console/assets/') !== 0 && files.indexOf(request.uri) === -1) {",
    `    request.uri = '${PAGE}'`,
    '  }',
    '  return request',
    '}',
  ].join('\n')
}

/**
 * Code of the CloudFront Function in front of the API: tells the API the address of the viewer, whatever the viewer itself says, because the
 * API sees an address of CloudFront.
 */
export const VIEWER_ADDRESS_CODE = [
  'function handler(event) {',
  '  var request = event.request',
  `  request.headers['${VIEWER_ADDRESS_HEADER}'] = { value: event.viewer.ip }`,
  '  return request',
  '}',
].join('\n')

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
