import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AssetHashType, DockerImage, Duration, Stack, Stage } from 'aws-cdk-lib'
import { Grant, type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Architecture,
  CfnFunction,
  CfnWebFunctionRevision,
  Code,
  Function as LambdaFunction,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import { Asset, type AssetOptions } from 'aws-cdk-lib/aws-s3-assets'
import { Construct, type IConstruct } from 'constructs'
import { SERVICE_NAME } from '#core/measures.ts'
import type { FunctionEnvironment } from '../config/function-variables.ts'
import { acknowledge } from './acknowledge.ts'
import type { BundledFile } from './bundle-handler.ts'
import { type ShippedCode, type ShippedFile, writeCode } from './function-code.ts'
import type { FunctionSources } from './function-sources.ts'
import { ServiceLogGroup } from './logs.ts'
import { metricsNamespaceOf } from './metrics.ts'

/** Value of the app's context: `false` leaves out source maps, half of the time of a synth. Only tests that run the code set it. */
export const SOURCE_MAPS = 'reelgate:source-maps'

/** Whether the app writes source maps. */
export function wantsSourceMaps(scope: Construct): boolean {
  return scope.node.tryGetContext(SOURCE_MAPS) !== false
}

type MappedCode = {
  /** Folder of the code below `lambdas/`. */
  readonly folder: string
  /** Names the deployed code in the template. */
  readonly hash: string
  readonly files: readonly BundledFile[]
}

/**
 * Writes source maps beside the assets of the cloud assembly: `source-maps/<folder>/<hash>/<file>.map`. The template names the deployed code by
 * the same hash, so maps of several deployments can be kept together. Does nothing for files without a map.
 */
export function writeSourceMaps(scope: Construct, { folder, hash, files }: MappedCode): void {
  const assembly = Stage.of(scope)?.outdir
  const mapped = files.filter(({ sourceMap }) => sourceMap !== undefined)
  if (mapped.length === 0 || assembly === undefined) {
    return
  }
  const directory = join(assembly, 'source-maps', folder, hash)
  mkdirSync(directory, { recursive: true })
  for (const { name, sourceMap = '' } of mapped) {
    writeFileSync(join(directory, `${name}.map`), sourceMap)
  }
}

/** The variables of logs and metrics, which every function has. */
export function telemetryOf(scope: Construct) {
  return {
    POWERTOOLS_SERVICE_NAME: SERVICE_NAME,
    POWERTOOLS_METRICS_NAMESPACE: metricsNamespaceOf(scope),
    LOG_LEVEL: 'INFO',
  } as const satisfies FunctionEnvironment
}

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
      environment: telemetryOf(this),
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
    code.assetOf(this.function)
    this.grantPrincipal = role
  }

  setEnvironment(values: FunctionEnvironment): void {
    for (const [name, value = ''] of Object.entries(values)) {
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
  // CDK takes one asset for another of the same path.
  return { path: join(sources.root, 'lambdas', folder), options, assetOf }
}

/** The id of a function from its name: `SubmitVideoJob` for `submit-video-job`. */
export function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase())
}

/** Every function below a construct. */
export function functionsBelow(scope: Construct): readonly GatewayFunction[] {
  return scope.node.findAll().filter((each) => each instanceof GatewayFunction)
}

/**
 * The quota of a function, measured on its variables as JSON (Lambda, "Quotas", 4 KB; its refusal prints the "String measured"). Documents name
 * 4 KB and 32 KB for Web Functions: the smaller one is safe with both.
 */
const BYTES_MAX = 4_096

/** Names and ARNs that AWS gives are known only after the deployment. All of those in use are shorter. */
const REFERENCE_CHARACTERS = 256

/**
 * Refuses to synthesise a function or a Web Function below this construct whose environment variables exceed what Lambda takes. CloudFormation
 * would fail in the middle of a deployment.
 */
export function refuseLargeEnvironments(scope: IConstruct): void {
  scope.node.addValidation({ validate: () => scope.node.findAll().flatMap(largeEnvironmentOf) })
}

/**
 * The most that variables take as JSON, in bytes.
 * @param variables resolved: strings, and expressions of CloudFormation, of which each reference counts as 256 characters.
 */
export function environmentBytesMax(variables: Readonly<Record<string, unknown>>): number {
  const written = Object.entries(variables).map(([name, value]) => [name, longestValue(value)])
  return Buffer.byteLength(JSON.stringify(Object.fromEntries(written)))
}

function longestValue(value: unknown): string {
  if (typeof value === 'string') {
    return value
  }
  const [kind, parts] = Object.entries(value ?? {})[0] ?? []
  return kind === 'Fn::Join' && Array.isArray(parts) && Array.isArray(parts[1])
    ? parts[1].map(longestValue).join(parts[0])
    : 'x'.repeat(REFERENCE_CHARACTERS)
}

/** What a person can do about it, or nothing. */
function largeEnvironmentOf(construct: IConstruct): string[] {
  const variables = variablesOf(construct)
  const bytes = environmentBytesMax(variables)
  return bytes <= BYTES_MAX
    ? []
    : [
        `the environment variables of ${construct.node.path} take up to ${bytes} bytes of the ${BYTES_MAX} that Lambda allows: ${sizesOf(variables)}. Shorten cors.origins or console.oidc in the configuration`,
      ]
}

/** The longest variables, by name alone. */
function sizesOf(variables: Readonly<Record<string, unknown>>): string {
  const sizes = Object.entries(variables).map(([name, value]) => ({ name, characters: longestValue(value).length }))
  const longest = sizes.sort((one, other) => other.characters - one.characters).slice(0, 3)
  return longest.map(({ name, characters }) => `${name} ${characters}`).join(', ')
}

function variablesOf(construct: IConstruct): Readonly<Record<string, unknown>> {
  const resolve = (value: unknown) => Stack.of(construct).resolve(value)
  if (construct instanceof CfnFunction) {
    return resolve(construct.environment)?.variables ?? {}
  }
  return construct instanceof CfnWebFunctionRevision
    ? (resolve(construct.serviceConfig)?.environmentVariables ?? {})
    : {}
}
