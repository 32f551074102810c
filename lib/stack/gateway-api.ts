import { Aws, Duration, Stack } from 'aws-cdk-lib'
import {
  AccessLogFormat,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { Construct } from 'constructs'
import type { AllowedOrigins } from '#core/api/cross-origin.ts'
import { methodsOf, type Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { getVideoJob } from '#routes/video-jobs.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import type { CustomDomain, StageSettings } from '../config/stage-settings.ts'
import { acknowledge } from './acknowledge.ts'
import { API_FUNCTIONS, type ApiFunction, withTokens } from './function-needs.ts'
import { addErrorResponses } from './gateway-error-responses.ts'
import { type GatewayFunction, pascalCase } from './gateway-function.ts'
import { ACCESS_LOG_FIELDS, ServiceLogGroup } from './logs.ts'
import { createFunction, type ServiceResources } from './service-resources.ts'
import type { VideoPipeline } from './video-pipeline.ts'

/** The custom domain of the API. */
type ApiDomain = {
  /** With a final slash. */
  readonly baseUrl: string
  /** The record that the operator adds to the DNS zone; Reelgate does not change zones. */
  readonly dnsRecord: string
}

/**
 * TLS 1.2 or later, with forward secrecy, at every address of the API: a regional REST API accepts TLS 1.0 by default. Strict refuses a
 * request whose `Host` is not the name of its handshake. CloudFront sends the same name as both.
 */
export const TRANSPORT_SECURITY = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const

/** Adds a custom domain to the API. */
export function addApiDomain(restApi: RestApi, { domainName, certificateArn }: CustomDomain): ApiDomain {
  const domain = restApi.addDomainName('Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(restApi, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    ...TRANSPORT_SECURITY,
  })
  return { baseUrl: `https://${domainName}/`, dnsRecord: `${domainName} CNAME ${domain.domainNameAliasDomainName}` }
}

/** Streams the response to the client. The timeout is explicit, because CDK's default is 29 seconds. */
export function streamedIntegration(handler: GatewayFunction): LambdaIntegration {
  return new LambdaIntegration(handler.function, {
    proxy: true,
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.relay),
    allowTestInvoke: false,
  })
}

/** A buffered response. One permission covers all methods of the function. */
export function wholeIntegration(handler: GatewayFunction): LambdaIntegration {
  return new LambdaIntegration(handler.function, {
    proxy: true,
    timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.api),
    scopePermissionToMethod: false,
  })
}

const STAGE_NAME = 'live'

/**
 * The route that clients poll, whose latency has an alarm because it depends on the table only. Detailed metrics of a method cost five
 * metrics.
 */
export const MEASURED_ROUTE: Route = getVideoJob

/** The function of the routes without a key, which also responds to preflights. */
const PUBLIC = 'public'

/** Where a proxy reaches the API. */
export type ApiOrigin = {
  readonly domainName: string
  /** In front of every path; empty for a custom domain. */
  readonly path: string
}

type GatewayApiProps = {
  readonly resources: ServiceResources
  readonly pipeline: VideoPipeline
  readonly settings: StageSettings
  /** Origins whose scripts may call the API. */
  readonly corsOrigins: AllowedOrigins
}

/** The regional REST API: the functions of ROUTES, of which small reads share some. API Gateway itself refuses all else. */
export class GatewayApi extends Construct {
  readonly restApi: RestApi
  /** The base url for clients, with a final slash. */
  readonly baseUrl: string
  /** The DNS record that a custom domain needs. */
  readonly dnsRecord: string | undefined
  readonly origin: ApiOrigin

  constructor(scope: Construct, id: string, props: GatewayApiProps) {
    super(scope, id)
    const { settings } = props
    this.restApi = this.#createRestApi(settings)
    const domain = settings.apiDomain && addApiDomain(this.restApi, settings.apiDomain)
    this.baseUrl = domain?.baseUrl ?? this.restApi.url
    this.dnsRecord = domain?.dnsRecord
    this.origin = this.#originOf(settings)
    addErrorResponses(this.restApi, { isOpenToBrowsers: props.corsOrigins.length > 0 })
    this.#serveRoutes(props)
    this.#acknowledge(settings)
  }

  /** Paths and methods without an integration are refused by API Gateway (gateway-error-responses.ts). */
  #serveRoutes(props: GatewayApiProps): void {
    for (const apiFunction of API_FUNCTIONS) {
      const integration = this.#createFunction(apiFunction, props)
      for (const route of apiFunction.routes) {
        for (const method of methodsOf(route)) {
          this.restApi.root.resourceForPath(route.path).addMethod(method, integration)
        }
      }
      if (apiFunction.name === PUBLIC && props.corsOrigins.length > 0) {
        for (const path of new Set(ROUTES.map((route) => route.path).filter((each) => each.startsWith('/v1/')))) {
          this.restApi.root.resourceForPath(path).addMethod('OPTIONS', integration)
        }
      }
    }
  }

  #createFunction(
    { name, needs: own, ...facts }: ApiFunction,
    { resources, settings, pipeline, corsOrigins }: GatewayApiProps,
  ): LambdaIntegration {
    const streams = facts.streams && !settings.emulator
    const needs = resources.takesTokens && facts.routes.some(({ auth }) => auth === 'key') ? withTokens(own) : own
    const handler = createFunction(this, pascalCase(name), resources, {
      folder: `api/${name}`,
      needs,
      entry: streams ? 'streamHandler' : 'handler',
    })
    if (corsOrigins.length > 0) {
      handler.setEnvironment({ CORS_ORIGINS: corsOrigins.join(' ') })
    }
    if (name === PUBLIC && resources.frontDoor !== undefined) {
      handler.setEnvironment({ CONSOLE_ORIGIN: resources.frontDoor.url })
    }
    if (needs.startsExecutions) {
      pipeline.grantStart(handler)
    }
    return streams ? streamedIntegration(handler) : wholeIntegration(handler)
  }

  /** The base url on an emulator of AWS, in the form of LocalStack. */
  baseUrlBelow(emulatorEndpoint: string): string {
    return `${emulatorEndpoint.replace(/\/+$/, '')}/_aws/execute-api/${this.restApi.restApiId}/${STAGE_NAME}/`
  }

  /** A custom domain turns the default address off, and API Gateway accepts it only under its own name. */
  #originOf({ apiDomain }: StageSettings): ApiOrigin {
    return apiDomain === undefined
      ? { domainName: `${this.restApi.restApiId}.execute-api.${Aws.REGION}.amazonaws.com`, path: `/${STAGE_NAME}` }
      : { domainName: apiDomain.domainName, path: '' }
  }

  #createRestApi({ throttle, apiDomain, alarms }: StageSettings): RestApi {
    const accessLog = new ServiceLogGroup(this, 'AccessLog')
    const ofEveryMethod = {
      metricsEnabled: false,
      loggingLevel: MethodLoggingLevel.ERROR,
      dataTraceEnabled: false,
      throttlingRateLimit: throttle.requestsPerSecond,
      throttlingBurstLimit: throttle.burst,
    }
    const api = new RestApi(this, 'RestApi', {
      restApiName: Stack.of(this).stackName,
      description: 'Reelgate',
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: true,
      disableExecuteApiEndpoint: apiDomain !== undefined,
      deployOptions: {
        stageName: STAGE_NAME,
        tracingEnabled: true,
        ...ofEveryMethod,
        methodOptions: alarms ? measured(ofEveryMethod) : {},
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
    })
    // CDK's own class has these properties for domains only.
    Object.assign(api.node.defaultChild as CfnRestApi, TRANSPORT_SECURITY)
    // API Gateway dictates the name. The group is created before the stage, so that its lines expire too.
    const executionLog = new ServiceLogGroup(
      this,
      'ExecutionLog',
      `API-Gateway-Execution-Logs_${api.restApiId}/${STAGE_NAME}`,
    )
    api.deploymentStage.node.addDependency(executionLog)
    // The stack has its own output for the url.
    api.node.tryRemoveChild('Endpoint')
    return api
  }

  #acknowledge({ waf }: StageSettings): void {
    acknowledge(this, 'The handlers validate against the contract and answer in its error shape.', 'APIG2')
    if (waf === undefined) {
      acknowledge(this, 'The web ACL costs more than the rest of an idle stage; a stage has it with waf=on.', 'APIG3')
    }
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

/** Settings of one method do not inherit those of all methods, so the entry repeats them. */
function measured(ofEveryMethod: MethodDeploymentOptions): Record<string, MethodDeploymentOptions> {
  const { path, method } = MEASURED_ROUTE
  return { [`${path}/${method}`]: { ...ofEveryMethod, metricsEnabled: true } }
}
