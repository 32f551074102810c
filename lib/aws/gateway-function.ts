import { join } from 'node:path'
import { Duration } from 'aws-cdk-lib'
import { Grant, type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, type IFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { FunctionSources } from './function-sources.ts'
import { ServiceLogGroup } from './service-log-group.ts'

/** Where the functions count. */
export const METRICS_NAMESPACE = 'Reelgate'

type GatewayFunctionProps = {
  readonly sources: FunctionSources
  /** Folder below `lambdas/` whose `handler.ts` exports `handler`. */
  readonly folder: string
  readonly timeoutSeconds: number
  readonly memoryMegabytes: number
  /** Whether `gateway.json` lies beside the code. */
  readonly shipsConfiguration: boolean
  readonly reservedConcurrency?: number
}

/** One handler as a Lambda function with a log group and a role of its own; the role may write that log and nothing else. */
export class GatewayFunction extends Construct implements IGrantable {
  readonly function: IFunction
  readonly grantPrincipal: IPrincipal
  readonly #function: NodejsFunction

  constructor(scope: Construct, id: string, props: GatewayFunctionProps) {
    super(scope, id)
    const logGroup = new ServiceLogGroup(this, 'Log')
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    logGroup.grantWrite(role)
    acknowledge(role, 'X-Ray has no resources that a policy could name.', 'IAM5[Resource::*]')
    this.#function = new NodejsFunction(this, 'Function', {
      entry: join(props.sources.root, 'lambdas', props.folder, 'handler.ts'),
      handler: 'handler',
      projectRoot: props.sources.root,
      depsLockFilePath: join(props.sources.root, 'package-lock.json'),
      description: `Reelgate ${props.folder}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      environment: {
        POWERTOOLS_SERVICE_NAME: 'reelgate',
        POWERTOOLS_METRICS_NAMESPACE: METRICS_NAMESPACE,
        LOG_LEVEL: 'INFO',
      },
      bundling: bundlingOf(props.shipsConfiguration ? props.sources.configurationFile : undefined),
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
    this.function = this.#function
    this.grantPrincipal = role
  }

  setEnvironment(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      this.#function.addEnvironment(name, value)
    }
  }

  /** Exactly this function, none of its versions: what `grantInvoke` would add is a wildcard. */
  allowInvokeBy(grantee: IGrantable): void {
    Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns: [this.function.functionArn] })
  }
}

/**
 * The SDK is bundled and ES modules are preferred: the measured load time is a third of CDK's defaults.
 * No source map: reading one costs more at each cold start than it ever explains.
 */
function bundlingOf(configurationFile: string | undefined) {
  return {
    format: OutputFormat.ESM,
    mainFields: ['module', 'main'],
    minify: true,
    sourceMap: false,
    bundleAwsSDK: true,
    forceDockerBundling: false,
    commandHooks: {
      beforeBundling: () => [],
      beforeInstall: () => [],
      afterBundling: (_inputDirectory: string, outputDirectory: string) =>
        configurationFile === undefined ? [] : [`cp "${configurationFile}" "${join(outputDirectory, 'gateway.json')}"`],
    },
  }
}
