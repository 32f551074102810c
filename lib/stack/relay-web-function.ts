import { Annotations, Aws, Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { AddBehaviorOptions, Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  SystemLogLevel,
  WebFunction,
  WebFunctionAuthType,
  WebFunctionCode,
  WebFunctionRuntime,
} from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { AllowedOrigins } from '#core/api/cross-origin.ts'
import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS } from '#core/http.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import type { FunctionEnvironment } from '../config/function-variables.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { createPrivateBucket } from './buckets.ts'
import { RELAY_SERVER, RELAY_SERVER_NODE_OPTIONS } from './function-code.ts'
import { RELAY_SERVER_NEEDS, withTokens } from './function-needs.ts'
import { codeAsset, telemetryOf } from './gateway-function.ts'
import { ServiceLogGroup } from './logs.ts'
import { metricsNamespaceOf } from './metrics.ts'
import { type FrontDoorSecret, grantSecret } from './secrets.ts'
import { equipRelayServer, IDENTITY_FILE, type ServiceResources } from './service-resources.ts'

/**
 * Requests at once in one process, Lambda's default. Each has a socket to its client and one to its upstream: 128 of the 1,024 descriptors of an
 * environment, which leaves room for the table and for idle connections.
 */
const REQUESTS_AT_ONCE_MAX = 64

/** Rates that an endpoint accepts: 100 to 1,000 by 100, and 2,000 to 10,000 by 1,000. */
const RATE = { min: 100, small: 100, large: 1_000, max: 10_000 }

/** Below the 65 seconds for which the relay server keeps an idle connection. */
const KEEP_ALIVE_SECONDS = 60

const FAILED_STARTS = 'relay_starts_failed'

/** Length of the longest name: Reelgate-<32>-relay-<14> has 62 of the 64 characters that Lambda allows. */
const FUNCTION_NAME = `${Aws.STACK_NAME}-relay-${Aws.REGION}`

/** The paths of the relay server: each relayed route by its exact path, and the models. */
export const RELAY_PATHS: readonly string[] = [
  ...ROUTES.filter(({ relays }: Route) => relays).map(({ path }) => path),
  '/v1/models',
  '/v1/models/*',
]

type RelayWebFunctionProps = {
  readonly resources: ServiceResources
  readonly settings: Pick<StageSettings, 'throttle'>
  /** Of the front door, which every request must prove to know. */
  readonly secret: FrontDoorSecret
  readonly corsOrigins: AllowedOrigins
}

/**
 * The relay server as a Lambda Web Function: one process serves many relayed requests at once. A change of code, configuration or environment
 * makes a new revision, which gets all requests; CloudFormation deletes the revision before only when the deployment has succeeded.
 */
export class RelayWebFunction extends Construct implements IGrantable {
  readonly grantPrincipal: IPrincipal
  readonly functionName = FUNCTION_NAME
  readonly #secret: FrontDoorSecret
  readonly #environment: Record<string, string> = {}
  readonly #domainName: string

  constructor(scope: Construct, id: string, props: RelayWebFunctionProps) {
    super(scope, id)
    this.#secret = props.secret
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    this.grantPrincipal = role
    const log = new ServiceLogGroup(this, 'Log')
    // Lambda writes to a second group of this name too. The stack owns both, so that their lines expire.
    const localLog = new ServiceLogGroup(this, 'LocalLog', `${log.logGroupName}.local`)
    for (const each of [log, localLog]) {
      each.grantWrite(role)
    }
    this.#countFailedStarts(log)
    this.#equip(props)
    const rateLimit = endpointRateOf(props.settings.throttle.requestsPerSecond)
    const { bucket, copyOptions } = this.#keepCode()
    const { sources, takesTokens } = props.resources
    const files = [...RELAY_SERVER.files, ...(takesTokens ? ([IDENTITY_FILE] as const) : [])]
    const code = codeAsset(this, { ...RELAY_SERVER, files, sources })
    const created = new WebFunction(this, 'Function', {
      webFunctionName: FUNCTION_NAME,
      code: WebFunctionCode.fromAssetToProvidedBucket(bucket, code.path, { ...code.options, copyOptions }),
      runtime: WebFunctionRuntime.NODEJS_24_X,
      role,
      environment: this.#environment,
      timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.relay),
      maxConcurrencyPerEnvironment: REQUESTS_AT_ONCE_MAX,
      logGroup: log,
      // LOG_LEVEL decides; a higher level here would overrule it.
      applicationLogLevel: ApplicationLogLevel.TRACE,
      systemLogLevel: SystemLogLevel.INFO,
      defaultEndpointAuth: WebFunctionAuthType.APPLICATION_MANAGED,
      defaultEndpoint: { endpointName: 'prod', ...(rateLimit === undefined ? {} : { rateLimit }) },
    })
    const reason = 'The process refuses whoever lacks the secret of the front door.'
    Annotations.of(created).acknowledgeWarning('@aws-cdk/aws-lambda:webFunctionPublicEndpoint', reason)
    const { bucket: staging } = code.assetOf(created)
    acknowledgeWildcard(
      copyOptions.role,
      'CDK names what it stages by the hash of its content.',
      staging.arnForObjects('*'),
    )
    created.resource.node.addDependency(log, localLog)
    // A process that starts before its permissions would fail.
    created.resourceRevision.node.addDependency(role)
    this.#domainName = created.endpoint.domainName
  }

  setEnvironment(values: FunctionEnvironment): void {
    Object.assign(this.#environment, values)
  }

  /**
   * Sends relayed requests of the front door to this function.
   * @param behavior of the API's paths: nothing cached, compressed or left out, and the address of the viewer.
   */
  addPathsTo(distribution: Distribution, behavior: AddBehaviorOptions): void {
    const origin = new HttpOrigin(this.#domainName, {
      readTimeout: Duration.seconds(FRONT_DOOR_SILENCE_SECONDS),
      keepaliveTimeout: Duration.seconds(KEEP_ALIVE_SECONDS),
      customHeaders: { [FRONT_DOOR_HEADER]: this.#secret.sent },
    })
    for (const path of RELAY_PATHS) {
      distribution.addBehavior(path, origin, behavior)
    }
  }

  /** Processes that did not start. Lambda tells it in the log alone. */
  failedStarts(period: Duration): Metric {
    return new Metric({
      namespace: metricsNamespaceOf(this),
      metricName: FAILED_STARTS,
      statistic: 'Sum',
      period,
    })
  }

  /** Requests by the class of their status. Lambda publishes nothing for a class without requests. */
  responses(statusClass: '2XX' | '4XX' | '5XX', period: Duration): Metric {
    return new Metric({
      namespace: 'AWS/Lambda/Web',
      metricName: `HTTPResponseStatusClass${statusClass}`,
      dimensionsMap: { FunctionName: this.functionName },
      statistic: 'Sum',
      period,
    })
  }

  /** Names and ARNs only: everybody who may read a revision reads its variables. */
  #equip({ resources, secret: { secretArn }, corsOrigins }: RelayWebFunctionProps): void {
    this.setEnvironment({
      ...telemetryOf(this),
      FRONT_DOOR_SECRET_ARN: secretArn,
      NODE_OPTIONS: RELAY_SERVER_NODE_OPTIONS,
      ...(corsOrigins.length > 0 ? { CORS_ORIGINS: corsOrigins.join(' ') } : {}),
    })
    equipRelayServer(this, resources.takesTokens ? withTokens(RELAY_SERVER_NEEDS) : RELAY_SERVER_NEEDS, resources)
    grantSecret(this, secretArn)
  }

  /**
   * A private bucket with versions for the code, as Web Functions demand. Each process reads its code when it starts. CDK's function writes an
   * object for each revision, and deletes it with the revision.
   */
  #keepCode() {
    const bucket = createPrivateBucket(this, { versioned: true, removalPolicy: RemovalPolicy.DESTROY })
    acknowledge(bucket, 'The bucket holds the code of the gateway, which the Web Function alone reads.', 'S1')
    const role = new Role(this, 'CopyRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    acknowledge(
      role,
      'CDK grants so what writes and deletes objects.',
      'IAM5[Action::s3:Abort*]',
      'IAM5[Action::s3:DeleteObject*]',
    )
    acknowledgeWildcard(
      role,
      'Objects are named by the revision that they are for.',
      bucket.arnForObjects('web-function/*'),
    )
    const logGroup = new ServiceLogGroup(this, 'CopyLog')
    logGroup.grantWrite(role)
    return { bucket, copyOptions: { role, logGroup } }
  }

  #countFailedStarts(logGroup: ServiceLogGroup): void {
    new MetricFilter(this, 'FailedStarts', {
      logGroup,
      filterPattern: FilterPattern.literal('{ $.type = "platform.initReport" && $.record.status = "failure" }'),
      metricNamespace: metricsNamespaceOf(this),
      metricName: FAILED_STARTS,
      metricValue: '1',
    })
  }
}

/**
 * The rate of an endpoint for a throttle of the stage: the next lower one that Lambda accepts, at least 100 requests a second. Undefined above
 * 10,000, which only the quota of the account bounds.
 */
export function endpointRateOf(requestsPerSecond: number): number | undefined {
  if (requestsPerSecond > RATE.max) {
    return undefined
  }
  const step = requestsPerSecond < RATE.large ? RATE.small : RATE.large
  return Math.max(RATE.min, Math.floor(requestsPerSecond / step) * step)
}
