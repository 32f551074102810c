import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AssetHashType, DockerImage, Duration } from 'aws-cdk-lib'
import { Grant, type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  type Alias,
  Architecture,
  Code,
  type IFunction,
  Function as LambdaFunction,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import { Construct } from 'constructs'
import { writeTokenizerRanks } from '../config/tokenizer-ranks.ts'
import { acknowledge } from './acknowledge.ts'
import { type BundledFile, bundleHandler } from './bundle-handler.ts'
import { type FunctionSources, REPOSITORY_ROOT } from './function-sources.ts'
import { packConsole } from './pack-console.ts'
import { packRelayServer } from './pack-relay-server.ts'
import { ServiceLogGroup } from './service-log-group.ts'
import { metricsNamespaceOf, SERVICE_NAME } from './service-metrics.ts'
import { wantsSourceMaps, writeSourceMaps } from './source-maps.ts'

/** Files that can ship with a function's code, with their writers. */
const SHIPPED_FILES = {
  'gateway.json': (file: string, { configurationFile }: FunctionSources) => copyFileSync(configurationFile, file),
  'cl100k_base.json': (file: string) => writeTokenizerRanks(file),
  'console.json': (file: string, { consoleFolder }: FunctionSources) => writeFileSync(file, packConsole(consoleFolder)),
  'relay-server.zip': (file: string, sources: FunctionSources) => writeFileSync(file, packRelayServer(sources)),
  'openapi.json': (file: string) => copyFileSync(join(REPOSITORY_ROOT, 'openapi.json'), file),
}

/** Alias of the deployed version; only published versions can be kept warm. */
const ALIAS_NAME = 'live'

type ShippedFile = keyof typeof SHIPPED_FILES

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
  /** Instances that are kept warm behind an alias; 0 means no alias. */
  readonly provisionedConcurrency?: number
}

/** A handler as a Lambda function with its own log group and role. Initially, the role can only write that log. */
export class GatewayFunction extends Construct implements IGrantable {
  /** Its permissions, variables and metrics apply to the alias too. */
  readonly function: LambdaFunction
  /** The alias if instances are kept warm, else the function. */
  readonly invocable: IFunction
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
    const { code, bundled } = codeOf(this, props)
    this.function = new LambdaFunction(this, 'Function', {
      code,
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
    const asset = this.function.node.tryFindChild('Code')
    if (asset instanceof Asset) {
      writeSourceMaps(this, { folder: props.folder, hash: asset.assetHash, files: bundled })
    }
    this.grantPrincipal = role
    this.invocable = invocableOf(this.function, props.provisionedConcurrency ?? 0)
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

function invocableOf(created: LambdaFunction, provisionedConcurrentExecutions: number): IFunction {
  if (provisionedConcurrentExecutions === 0) {
    return created
  }
  // Alias types these properties as possibly undefined, IFunction as optional, which exactOptionalPropertyTypes separates.
  const alias: Omit<Alias, 'role' | 'tenancyConfig'> = created.addAlias(ALIAS_NAME, { provisionedConcurrentExecutions })
  return alias
}

/**
 * An asset with `index.mjs`, its imports and the shipped files. The hash of the output names the asset, so a deployment updates
 * only changed functions. `bundled` is filled when CDK binds the code.
 */
function codeOf(
  scope: Construct,
  { sources, folder, files }: GatewayFunctionProps,
): { code: Code; bundled: readonly BundledFile[] } {
  const withSourceMaps = wantsSourceMaps(scope)
  const bundled: BundledFile[] = []
  const bundleInto = (outputDirectory: string) => {
    bundled.push(...bundleHandler({ root: sources.root, folder, withSourceMaps }).files)
    for (const { name, code } of bundled) {
      writeFileSync(join(outputDirectory, name), code)
    }
    for (const name of files) {
      SHIPPED_FILES[name](join(outputDirectory, name), sources)
    }
    return true
  }
  const code = Code.fromAsset(join(sources.root, 'lambdas', folder), {
    assetHashType: AssetHashType.OUTPUT,
    // CDK requires a fallback image, which is never used.
    bundling: { image: DockerImage.fromRegistry('none'), local: { tryBundle: bundleInto } },
  })
  return { code, bundled }
}

/** Every function below a construct. */
export function functionsBelow(scope: Construct): readonly GatewayFunction[] {
  return scope.node.findAll().filter((each) => each instanceof GatewayFunction)
}
