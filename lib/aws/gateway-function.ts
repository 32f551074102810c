import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AssetHashType, DockerImage, Duration } from 'aws-cdk-lib'
import { Grant, type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import { bundleHandler } from './bundle-handler.ts'
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
  readonly function: LambdaFunction
  readonly grantPrincipal: IPrincipal

  constructor(scope: Construct, id: string, props: GatewayFunctionProps) {
    super(scope, id)
    const logGroup = new ServiceLogGroup(this, 'Log')
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    logGroup.grantWrite(role)
    acknowledge(role, 'X-Ray has no resources that a policy could name.', 'IAM5[Resource::*]')
    this.function = new LambdaFunction(this, 'Function', {
      code: codeOf(props),
      handler: 'index.handler',
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
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
    this.grantPrincipal = role
  }

  setEnvironment(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      this.function.addEnvironment(name, value)
    }
  }

  /** Exactly this function, none of its versions: what `grantInvoke` would add is a wildcard. */
  allowInvokeBy(grantee: IGrantable): void {
    Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns: [this.function.functionArn] })
  }
}

/**
 * An asset with `index.mjs`, what that imports and, where the handler reads it, `gateway.json`; named by the hash of what is in it,
 * so that a deployment touches only the functions that changed.
 */
function codeOf({ sources, folder, shipsConfiguration }: GatewayFunctionProps): Code {
  const bundleInto = (outputDirectory: string) => {
    for (const { name, code } of bundleHandler({ root: sources.root, folder }).files) {
      writeFileSync(join(outputDirectory, name), code)
    }
    if (shipsConfiguration) {
      copyFileSync(sources.configurationFile, join(outputDirectory, 'gateway.json'))
    }
    return true
  }
  return Code.fromAsset(join(sources.root, 'lambdas', folder), {
    assetHashType: AssetHashType.OUTPUT,
    // CDK wants an image to fall back to; bundling in this process needs none.
    bundling: { image: DockerImage.fromRegistry('none'), local: { tryBundle: bundleInto } },
  })
}
