import { join } from 'node:path'
import { AssetHashType, DockerImage, Duration } from 'aws-cdk-lib'
import { Grant, type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { Asset, type AssetOptions } from 'aws-cdk-lib/aws-s3-assets'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { BundledFile } from './bundle-handler.ts'
import { type ShippedCode, type ShippedFile, writeCode } from './function-code.ts'
import type { FunctionSources } from './function-sources.ts'
import { ServiceLogGroup } from './service-log-group.ts'
import { metricsNamespaceOf, SERVICE_NAME } from './service-metrics.ts'
import { wantsSourceMaps, writeSourceMaps } from './source-maps.ts'

/** The export that Lambda calls, for a buffered or a streamed response. */
export type FunctionEntry = 'handler' | 'streamHandler'

type GatewayFunctionProps = {
  readonly sources: FunctionSources
  /** Folder below `lambdas/` whose `handler.ts` exports the entry. */
  readonly folder: string
  readonly entry?: FunctionEntry
  readonly timeoutSeconds: number
  readonly memoryMegabytes: number
  readonly files: readonly ShippedFile[]
  /** The maximum of instances, reserved for this function. */
  readonly reservedConcurrency?: number | undefined
}

/** A handler as a Lambda function with its own log group and role. Initially, the role can only write that log. */
export class GatewayFunction extends Construct implements IGrantable {
  readonly function: LambdaFunction
  readonly grantPrincipal: IPrincipal
  /** Folder of the handler below `lambdas/`. */
  readonly folder: string

  constructor(scope: Construct, id: string, props: GatewayFunctionProps) {
    super(scope, id)
    this.folder = props.folder
    const logGroup = new ServiceLogGroup(this, 'Log')
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    logGroup.grantWrite(role)
    acknowledge(role, 'X-Ray has no resources that a policy could name.', 'IAM5[Resource::*]')
    const { sources, folder, files } = props
    const code = codeAsset(this, { sources, folder, files })
    this.function = new LambdaFunction(this, 'Function', {
      code: Code.fromAsset(code.path, code.options),
      handler: `index.${props.entry ?? 'handler'}`,
      description: `Reelgate ${props.folder}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      environment: {
        POWERTOOLS_SERVICE_NAME: SERVICE_NAME,
        POWERTOOLS_METRICS_NAMESPACE: metricsNamespaceOf(this),
        LOG_LEVEL: 'INFO',
      },
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
    code.assetOf(this.function)
    this.grantPrincipal = role
  }

  setEnvironment(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      this.function.addEnvironment(name, value)
    }
  }

  /** Grants this function without its versions; `grantInvoke` would add a wildcard. */
  allowInvokeBy(grantee: IGrantable): void {
    Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns: [this.function.functionArn] })
  }
}

/**
 * The code as an asset. The hash of the output names it, so a deployment updates only changed functions.
 * @returns what an asset takes, and `assetOf`, which finds the asset of a function and writes its source maps.
 */
export function codeAsset(scope: Construct, code: ShippedCode) {
  const { sources, folder } = code
  const withSourceMaps = wantsSourceMaps(scope)
  const bundled: BundledFile[] = []
  const options: AssetOptions = {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // CDK requires a fallback image, which is never used.
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle: (directory) => {
          bundled.push(...writeCode(directory, code, withSourceMaps))
          return true
        },
      },
    },
  }
  const assetOf = (owner: Construct): Asset => {
    const asset = owner.node.findChild('Code')
    if (!(asset instanceof Asset)) {
      throw new TypeError(`the code of ${owner.node.path} is no asset: has the CDK changed?`)
    }
    writeSourceMaps(scope, { folder, hash: asset.assetHash, files: bundled })
    return asset
  }
  return { path: join(sources.root, 'lambdas', folder), options, assetOf }
}

/** Every function below a construct. */
export function functionsBelow(scope: Construct): readonly GatewayFunction[] {
  return scope.node.findAll().filter((each) => each instanceof GatewayFunction)
}
