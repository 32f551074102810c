import { Duration, Stack } from 'aws-cdk-lib'
import {
  AccessLogFormat,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { Construct } from 'constructs'
import { ROUTES, type Route } from '#core/contract/routes.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/function-timeouts.ts'
import { acknowledge } from './acknowledge.ts'
import { API_NEEDS } from './function-needs.ts'
import { addErrorResponses } from './gateway-error-responses.ts'
import type { GatewayFunction } from './gateway-function.ts'
import { ServiceLogGroup } from './service-log-group.ts'
import { createFunction, type ServiceResources } from './service-resources.ts'
import type { VideoPipeline } from './video-pipeline.ts'

const STAGE_NAME = 'live'
/** A fuse for the whole service, not a client's limit: half of a region's default quota of 10,000 and 5,000. */
const REQUESTS_PER_SECOND = 5000
const REQUEST_BURST = 2500

type GatewayApiProps = {
  readonly resources: ServiceResources
  readonly pipeline: VideoPipeline
  /** Whether routes that may stream do. */
  readonly responseStreaming: boolean
}

/** The regional REST API: one function per row of ROUTES, and the fallback for every other path and method. */
export class GatewayApi extends Construct {
  readonly restApi: RestApi

  constructor(scope: Construct, id: string, props: GatewayApiProps) {
    super(scope, id)
    this.restApi = this.#createRestApi()
    addErrorResponses(this.restApi)
    for (const route of ROUTES) {
      const streams = props.responseStreaming && isStreaming(route)
      const handler = createFunction(this, pascalCase(route.operation), props.resources, {
        folder: `api/${route.operation}`,
        needs: API_NEEDS[route.operation],
        entry: streams ? 'streamHandler' : 'handler',
      })
      if (route.operation === 'create-video-job') {
        props.pipeline.grantStart(handler)
      }
      this.restApi.root
        .resourceForPath(route.path)
        .addMethod(route.method, streams ? streamOf(handler) : integrationOf(handler, 'per-method'))
    }
    this.#addFallback(props.resources)
    this.#acknowledge()
  }

  #createRestApi(): RestApi {
    const accessLog = new ServiceLogGroup(this, 'AccessLog')
    const api = new RestApi(this, 'RestApi', {
      restApiName: Stack.of(this).stackName,
      description: 'Reelgate',
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: true,
      deployOptions: {
        stageName: STAGE_NAME,
        tracingEnabled: true,
        metricsEnabled: true,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        throttlingRateLimit: REQUESTS_PER_SECOND,
        throttlingBurstLimit: REQUEST_BURST,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
    })
    // API Gateway names this group; made before the stage, so that its lines end too.
    const executionLog = new ServiceLogGroup(
      this,
      'ExecutionLog',
      `API-Gateway-Execution-Logs_${api.restApiId}/${STAGE_NAME}`,
    )
    api.deploymentStage.node.addDependency(executionLog)
    // The stack names this output itself.
    api.node.tryRemoveChild('Endpoint')
    return api
  }

  /**
   * On every known resource each method that no route declares, and below it every unknown path. API Gateway promises
   * to take the most specific resource, not to come back to the root's `{proxy+}` when that one leads nowhere; so each
   * level has its own, but for a level with a path parameter, which may have one variable child only.
   */
  #addFallback(resources: ServiceResources): void {
    const fallback = createFunction(this, 'Fallback', resources, { folder: 'api/fallback', needs: API_NEEDS.fallback })
    const integration = integrationOf(fallback, 'whole-api')
    for (const resource of withDescendants(this.restApi.root)) {
      resource.addMethod('ANY', integration)
      if (!childrenOf(resource).some(isVariable)) {
        resource.addResource('{proxy+}').addMethod('ANY', integration)
      }
    }
  }

  #acknowledge(): void {
    acknowledge(this, 'The handlers validate against the contract and answer in its error shape.', 'APIG2')
    acknowledge(this, 'A web ACL is the operator’s choice: its body rules must be tuned to prompts first.', 'APIG3')
    acknowledge(
      this,
      'Bearer keys are checked in the handlers, afresh for whatever moves money or answers, so that a revoked key ends at once.',
      'APIG4',
      'COG4',
    )
    acknowledge(
      this,
      'API Gateway writes to log groups that it names itself, with the policy that AWS keeps for this.',
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    )
  }
}

/** One line per request. The path is the route's template, and nothing of the query, the headers or an error text is in it. */
const ACCESS_LOG_FIELDS = {
  requestId: '$context.requestId',
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

function isStreaming({ streams }: Route): boolean {
  return streams === true
}

/** Bytes go to the client as the function writes them; said in full, because CDK's default ends them after 29 seconds. */
function streamOf(handler: GatewayFunction): LambdaIntegration {
  return new LambdaIntegration(handler.function, {
    proxy: true,
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.relay),
    allowTestInvoke: false,
  })
}

/** One permission per method, or for the fallback one that covers them all. */
function integrationOf(handler: GatewayFunction, permission: 'per-method' | 'whole-api'): LambdaIntegration {
  return new LambdaIntegration(handler.function, {
    proxy: true,
    timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.api),
    ...(permission === 'per-method' ? { allowTestInvoke: false } : { scopePermissionToMethod: false }),
  })
}

function withDescendants(resource: IResource): IResource[] {
  return [resource, ...childrenOf(resource).flatMap(withDescendants)]
}

function childrenOf(resource: IResource): IResource[] {
  return resource.node.children.filter(isResource)
}

function isVariable({ path }: IResource): boolean {
  return path.endsWith('}')
}

function isResource(construct: object): construct is IResource {
  return 'resourceForPath' in construct
}

function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase())
}
