import { type IAspect, RemovalPolicy, Stack } from 'aws-cdk-lib'
import {
  CfnDelivery,
  CfnDeliveryDestination,
  CfnDeliverySource,
  CfnLogGroup,
  LogGroup,
  RetentionDays,
} from 'aws-cdk-lib/aws-logs'
import type { Construct, IConstruct } from 'constructs'

/** The lifetime of a job record, unless the stage sets another (LogLifetime). */
const RETENTION = RetentionDays.ONE_MONTH

/** A log group of the stack. @param logGroupName only if the writing service dictates the name. */
export class ServiceLogGroup extends LogGroup {
  constructor(scope: Construct, id: string, logGroupName?: string) {
    super(scope, id, {
      retention: RETENTION,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(logGroupName === undefined ? {} : { logGroupName }),
    })
  }
}

type LogLifetimeProps = {
  /** A retention period that CloudWatch Logs supports. */
  readonly retentionDays: number
  readonly outlivesStack: boolean
}

/** Sets the retention of every log group below a construct. */
export class LogLifetime implements IAspect {
  readonly #props: LogLifetimeProps

  constructor(props: LogLifetimeProps) {
    this.#props = props
  }

  visit(node: IConstruct): void {
    if (node instanceof CfnLogGroup) {
      node.retentionInDays = this.#props.retentionDays
      node.applyRemovalPolicy(
        this.#props.outlivesStack ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      )
    }
  }
}

/**
 * What a line says of a request, in CloudFront's names (Developer Guide, "Standard logging"). The query has the signature of a video's url and
 * the code of a sign-in, a cookie is a session, and a referer may repeat a query: none of them is here, nor any other header.
 */
const FIELDS = [
  'date',
  'time',
  'x-edge-request-id',
  'x-edge-location',
  'c-ip',
  'cs-method',
  'x-host-header',
  'cs-uri-stem',
  'sc-status',
  'sc-bytes',
  'cs-bytes',
  'time-taken',
  'time-to-first-byte',
  'x-edge-detailed-result-type',
  'cs-protocol-version',
  'ssl-protocol',
]

/** Logs the requests of a distribution as JSON lines in a log group. For a stack in us-east-1: CloudFront delivers from there alone. */
export function logFrontDoor(scope: Construct, distributionId: string): void {
  const name = `reelgate-${distributionId}`
  const source = new CfnDeliverySource(scope, 'LogSource', {
    name,
    logType: 'ACCESS_LOGS',
    resourceArn: Stack.of(scope).formatArn({
      service: 'cloudfront',
      region: '',
      resource: 'distribution',
      resourceName: distributionId,
    }),
  })
  const destination = new CfnDeliveryDestination(scope, 'LogDestination', {
    name,
    destinationResourceArn: new ServiceLogGroup(scope, 'Log').logGroupArn,
    outputFormat: 'json',
  })
  new CfnDelivery(scope, 'LogDelivery', {
    deliverySourceName: source.ref,
    deliveryDestinationArn: destination.attrArn,
    recordFields: FIELDS,
  })
}

/** One line per request, with the template of the route, and without the query, the headers or error messages. */
export const ACCESS_LOG_FIELDS = {
  requestId: '$context.requestId',
  // Clients can choose `requestId`, but not this one.
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  sourceIp: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  responseType: '$context.error.responseType',
  responseBytes: '$context.responseLength',
  latencyMilliseconds: '$context.responseLatency',
  integrationStatus: '$context.integration.status',
  functionRequestId: '$context.integration.requestId',
  integrationLatencyMilliseconds: '$context.integration.latency',
  responseTransferMode: '$context.integration.responseTransferMode',
  timeToAllHeadersMilliseconds: '$context.integration.timeToAllHeaders',
  timeToFirstContentMilliseconds: '$context.integration.timeToFirstContent',
  traceId: '$context.xrayTraceId',
}
