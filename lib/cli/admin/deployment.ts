import { CloudFormationClient, DescribeStacksCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation'
import { type RunningHost, readRunningHost } from '#local/data-directory.ts'
import { signWith } from '#local/engine-credentials.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { stackName } from '../../config/platform-facts.ts'
import { DeploymentNotFoundError, OutputNotFoundError, unreadableStack } from '../failures.ts'

/** One resource of the stack: its name in the template and its name in AWS (an arn, url or name, depending on its type). */
export type StackResource = { readonly type: string; readonly logicalId: string; readonly id: string }

/** Logical ids begin with the names of the enclosing constructs. */
export type ResourceMatch = { readonly type: string; readonly logicalIdPrefix: string }

/** Every resource of a stack. @throws DeploymentNotFoundError if the stack cannot be read. */
export async function readStackResources(stackName: string): Promise<readonly StackResource[]> {
  const resources: StackResource[] = []
  try {
    const client = new CloudFormationClient({})
    for await (const { StackResourceSummaries = [] } of paginateListStackResources(
      { client },
      { StackName: stackName },
    )) {
      for (const { ResourceType = '', LogicalResourceId = '', PhysicalResourceId = '' } of StackResourceSummaries) {
        resources.push({ type: ResourceType, logicalId: LogicalResourceId, id: PhysicalResourceId })
      }
    }
  } catch (error) {
    throw unreadableStack(`the resources of ${stackName}`, error)
  }
  return resources
}

/** The first resource of this type under these constructs. */
export function findResource(
  resources: readonly StackResource[],
  { type, logicalIdPrefix }: ResourceMatch,
): StackResource | undefined {
  return resources.find((resource) => resource.type === type && resource.logicalId.startsWith(logicalIdPrefix))
}

/** Names that are not outputs of the stack, with the one resource that has the value. */
const RESOURCE_OUTPUTS: ReadonlyMap<string, ResourceMatch> = new Map([
  ['StateMachineArn', { type: 'AWS::StepFunctions::StateMachine', logicalIdPrefix: 'VideoPipeline' }],
  ['BucketName', { type: 'AWS::S3::Bucket', logicalIdPrefix: 'VideoBucket' }],
])

/** The place that a command works on. */
export type Where = { readonly local: boolean; readonly dataDirectory: string; readonly stage: string }

/** A deployed stage or a running local host: its table, outputs and resources. */
export class Deployment {
  readonly #where: Where
  #table: Promise<Table> | undefined
  #resources: Promise<readonly StackResource[]> | undefined
  #outputs: Promise<ReadonlyMap<string, string>> | undefined

  constructor(where: Where) {
    this.#where = where
  }

  /** The table, opened once; `TABLE_NAME` in the environment replaces the stack's table. */
  table(): Promise<Table> {
    this.#table ??= this.#openTable()
    return this.#table
  }

  /**
   * An output of the stack, or the name of its only resource of a type: `StateMachineArn`, `BucketName`. The local host has these two,
   * `BaseUrl`, `TableName`, `ConfigurationFile` and `SimulatedChannels`.
   * @throws DeploymentNotFoundError; OutputNotFoundError if the stack or host exists and has no such output.
   */
  async output(name: string): Promise<string> {
    this.#outputs ??= this.#readOutputs()
    const value = (await this.#outputs).get(name) ?? (await this.#resourceFor(name))
    if (value === undefined) {
      throw new OutputNotFoundError(`${this.#title()} has no output ${name}`)
    }
    return value
  }

  /** Every resource of the stack, read once; empty for a local host. @throws DeploymentNotFoundError. */
  resources(): Promise<readonly StackResource[]> {
    this.#resources ??= this.#where.local ? Promise.resolve([]) : readStackResources(stackName(this.#where.stage))
    return this.#resources
  }

  async #resourceFor(output: string): Promise<string | undefined> {
    const match = RESOURCE_OUTPUTS.get(output)
    return match === undefined ? undefined : findResource(await this.resources(), match)?.id
  }

  async #openTable(): Promise<Table> {
    // The announcement of the local host has the addresses of its engines, so it is read first.
    if (this.#where.local || process.env.TABLE_NAME === undefined) {
      process.env.TABLE_NAME = await this.output('TableName')
    }
    return openTable()
  }

  async #readOutputs(): Promise<ReadonlyMap<string, string>> {
    return this.#where.local ? readHost(this.#where.dataDirectory) : readStack(stackName(this.#where.stage))
  }

  #title(): string {
    return this.#where.local ? 'the local host' : `the stack ${stackName(this.#where.stage)}`
  }
}

async function readStack(name: string): Promise<ReadonlyMap<string, string>> {
  try {
    const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: name }))
    const outputs = Stacks?.[0]?.Outputs ?? []
    return new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]))
  } catch (error) {
    throw unreadableStack(`the stack ${name}`, error)
  }
}

/** Points the AWS clients of this process at the engines of the running host. */
function readHost(dataDirectory: string): ReadonlyMap<string, string> {
  const host = readRunningHost(dataDirectory)
  if (host?.dynamoDbEndpoint === undefined || host.tableName === undefined) {
    throw new DeploymentNotFoundError(
      `no local host runs over ${dataDirectory}: start it with \`npm start -- --data-dir ${dataDirectory}\` and your other options, or name the folder of one that runs by --data-dir`,
    )
  }
  Object.assign(process.env, {
    AWS_REGION: process.env.AWS_REGION ?? 'us-east-1',
    AWS_ENDPOINT_URL_DYNAMODB: host.dynamoDbEndpoint,
    ...(host.s3Endpoint === undefined ? {} : { AWS_ENDPOINT_URL_S3: host.s3Endpoint }),
    ...(host.awsEndpoint === undefined ? {} : { AWS_ENDPOINT_URL_SFN: host.awsEndpoint }),
  })
  // A host with an external engine uses the credentials of its environment, and so do commands.
  if (host.credentials !== undefined) {
    signWith(host.credentials)
  }
  return new Map(outputsOf(host).filter((output): output is [string, string] => output[1] !== undefined))
}

function outputsOf(host: RunningHost): [string, string | undefined][] {
  return [
    ['BaseUrl', host.url],
    ['ConfigurationFile', host.configFile],
    ['SimulatedChannels', host.simulatedChannels?.join(',')],
    ['TableName', host.tableName],
    ['BucketName', host.bucketName],
    ['StateMachineArn', host.stateMachineArn],
  ]
}
