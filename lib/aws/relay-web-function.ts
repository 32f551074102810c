import { createHash } from 'node:crypto'
import { Aws, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Grant, type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnWebFunction, CfnWebFunctionEndpoint, CfnWebFunctionRevision } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { AllowedOrigins } from '#core/contract/cross-origin.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/function-timeouts.ts'
import { RELAY_SERVER_NODE_OPTIONS } from '../config/relay-server-options.ts'
import type { RelaySettings } from '../config/relay-settings.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { acknowledgeNewType } from './acknowledge.ts'
import { endpointRateOf } from './endpoint-rate.ts'
import { RELAY_SERVER_NEEDS } from './function-needs.ts'
import { RelayCode } from './relay-code.ts'
import { RelaySmoke } from './relay-smoke.ts'
import { ServiceLogGroup } from './service-log-group.ts'
import { metricsNamespaceOf, SERVICE_NAME } from './service-metrics.ts'
import { equipRelayServer, type ServiceResources } from './service-resources.ts'

/** The one runtime of Web Functions; arm64 alone. */
const RUNTIME = 'nodejs24.x'

/**
 * Requests at once in one process, Lambda's default. Each has a socket to its client and one to its upstream: 128 of the 1,024 descriptors of an
 * environment, which leaves room for the table and for idle connections.
 */
const REQUESTS_AT_ONCE_MAX = 64

/** The check of a release is a few requests. Two environments are the least that Lambda accepts. */
const CANDIDATE = { environmentsMax: 2, requestsPerSecond: 100 }

const RELEASE_CHARACTERS = 12

/** Length of the longest name: Reelgate-<32>-relay-<14> has 62 of the 64 characters that Lambda allows. */
const FUNCTION_NAME = `${Aws.STACK_NAME}-relay-${Aws.REGION}`

type RelayWebFunctionProps = RelaySettings & {
  readonly resources: ServiceResources
  readonly settings: Pick<StageSettings, 'throttle'>
  /** Secret of the front door, which every request must prove to know. */
  readonly secretArn: string
  readonly corsOrigins: AllowedOrigins
}

/**
 * The relay server as a Lambda Web Function: one process serves many relayed requests at once. A change of code, configuration or environment
 * makes a new revision. It is proved on the endpoint `candidate` before the endpoint `prod` sends it requests; earlier revisions stay.
 */
export class RelayWebFunction extends Construct implements IGrantable {
  readonly grantPrincipal: IPrincipal
  readonly functionName = FUNCTION_NAME
  readonly functionArn: string
  readonly revisionId: string
  /** The endpoint of clients' requests. */
  readonly endpoint: CfnWebFunctionEndpoint
  /** Processes that did not start. Lambda tells it in the log alone. */
  readonly failedStarts: Metric
  readonly #log: ServiceLogGroup
  readonly #environment: Record<string, string> = {}
  readonly #role: Role
  readonly #function: CfnWebFunction

  constructor(scope: Construct, id: string, props: RelayWebFunctionProps) {
    super(scope, id)
    const { resources, secretArn, settings, hasOriginAccessControl, weights } = props
    this.#role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    this.grantPrincipal = this.#role
    this.#log = new ServiceLogGroup(this, 'Log')
    this.failedStarts = this.#countFailedStarts()
    this.#equip(props)
    const code = new RelayCode(this, 'Code', { sources: resources.sources, functionName: FUNCTION_NAME })
    this.#function = new CfnWebFunction(this, 'Function', { functionName: FUNCTION_NAME })
    acknowledgeNewType(this)
    // Deleted before its code: environments read the code at every start.
    this.#function.node.addDependency(code)
    this.functionArn = this.#function.attrFunctionArn
    const { revision, release } = this.#createRevision(code)
    this.revisionId = revision.attrRevisionId
    const candidate = this.#createEndpoint('Candidate', {
      endpointName: 'candidate',
      authType: 'ApplicationManaged',
      revisionWeights: [{ revisionId: this.revisionId, weight: 100 }],
      scalingConfig: { maxEnvironments: CANDIDATE.environmentsMax },
      throttleConfig: { rateLimit: CANDIDATE.requestsPerSecond },
    })
    const { sources } = resources
    const { attrDomainName: domainName } = candidate
    const { proof } = new RelaySmoke(this, 'Smoke', { sources, domainName, release, secretArn })
    const rateLimit = endpointRateOf(settings.throttle.requestsPerSecond)
    this.endpoint = this.#createEndpoint('Prod', {
      endpointName: 'prod',
      authType: hasOriginAccessControl ? 'IamAuth' : 'ApplicationManaged',
      revisionWeights: weights.map(({ revision: weighted, percent }) => ({
        revisionId: weighted === 'new' ? this.revisionId : weighted.id,
        weight: percent,
      })),
      ...(rateLimit === undefined ? {} : { throttleConfig: { rateLimit } }),
    })
    this.endpoint.node.addDependency(proof)
  }

  setEnvironment(values: Readonly<Record<string, string>>): void {
    Object.assign(this.#environment, values)
  }

  /** Names and ARNs only: everybody who may read a revision reads its variables. */
  #equip({ resources, secretArn, corsOrigins }: RelayWebFunctionProps): void {
    this.setEnvironment({
      POWERTOOLS_SERVICE_NAME: SERVICE_NAME,
      POWERTOOLS_METRICS_NAMESPACE: metricsNamespaceOf(this),
      FRONT_DOOR_SECRET_ARN: secretArn,
      NODE_OPTIONS: RELAY_SERVER_NODE_OPTIONS,
      ...(corsOrigins.length > 0 ? { CORS_ORIGINS: corsOrigins.join(' ') } : {}),
    })
    equipRelayServer(this, RELAY_SERVER_NEEDS, resources)
    Grant.addToPrincipal({ grantee: this, actions: ['secretsmanager:GetSecretValue'], resourceArns: [secretArn] })
  }

  #createRevision(code: RelayCode): { revision: CfnWebFunctionRevision; release: string } {
    const logGroup = this.#ownLogGroups()
    const service = {
      executionRoleArn: this.#role.roleArn,
      timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.relay,
      maxConcurrencyPerEnvironment: REQUESTS_AT_ONCE_MAX,
      // LOG_LEVEL decides; a higher level here would overrule it.
      telemetryConfig: { loggingConfig: { logGroup, applicationLogLevel: 'TRACE', systemLogLevel: 'INFO' } },
    }
    const release = this.#releaseOf({ service, environment: this.#environment, digest: code.digest })
    const revision = new CfnWebFunctionRevision(this, `Revision${release}`, {
      functionName: FUNCTION_NAME,
      description: `Reelgate relay-server ${release}`,
      buildConfig: {
        codeConfig: { s3Object: code.object },
        runtimeConfig: { runtime: RUNTIME },
      },
      serviceConfig: { ...service, environmentVariables: { ...this.#environment, RELEASE: release } },
    })
    // An earlier revision stays for a gradual release and for the way back. Lambda keeps 50 and deletes the oldest unused ones.
    revision.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    revision.node.addDependency(this.#function, this.#role, code)
    return { revision, release }
  }

  #countFailedStarts(): Metric {
    const names = { metricNamespace: metricsNamespaceOf(this), metricName: 'relay_starts_failed' }
    new MetricFilter(this, 'FailedStarts', {
      logGroup: this.#log,
      filterPattern: FilterPattern.literal('{ $.type = "platform.initReport" && $.record.status = "failure" }'),
      metricValue: '1',
      ...names,
    })
    return new Metric({
      namespace: names.metricNamespace,
      metricName: names.metricName,
      statistic: 'Sum',
      period: Duration.minutes(5),
    })
  }

  /** Lambda writes to the group and to a second one of its region, `.local`. The stack owns both, so that their lines expire. */
  #ownLogGroups(): string {
    const { logGroupName } = this.#log
    const local = new ServiceLogGroup(this, 'LocalLog', `${logGroupName}.local`)
    for (const each of [this.#log, local]) {
      each.grantWrite(this.#role)
    }
    this.#function.node.addDependency(this.#log, local)
    return logGroupName
  }

  /** Names what a revision runs. Another name makes another revision. */
  #releaseOf(content: object): string {
    const resolved = JSON.stringify(Stack.of(this).resolve(content))
    return createHash('sha256').update(resolved).digest('hex').slice(0, RELEASE_CHARACTERS)
  }

  #createEndpoint(
    id: string,
    props: Omit<ConstructorParameters<typeof CfnWebFunctionEndpoint>[2], 'functionName' | 'endpointType'>,
  ): CfnWebFunctionEndpoint {
    const endpoint = new CfnWebFunctionEndpoint(this, id, {
      functionName: FUNCTION_NAME,
      endpointType: 'HomeRegion',
      ...props,
    })
    endpoint.node.addDependency(this.#function)
    return endpoint
  }
}
