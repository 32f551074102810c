import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { openTable, type Table } from '#adapters/stores/table.ts'
import { readRunningHost } from '#local/data-directory.ts'
import { UsageError } from './usage-error.ts'

type Where = { readonly local: boolean; readonly dataDirectory: string; readonly stage: string }

/**
 * The table that a command works on: that of the deployed stage (usual AWS environment; `TABLE_NAME` names another),
 * or that of a local host that is running.
 * @throws UsageError when there is no such stage, or no local host runs over the data directory.
 */
export async function openAdminTable({ local, dataDirectory, stage }: Where): Promise<Table> {
  if (local) {
    useLocalHost(dataDirectory)
  } else {
    process.env.TABLE_NAME ??= await deployedTableName(`Reelgate-${stage}`)
  }
  return openTable()
}

/** The stack says what its table is called. */
async function deployedTableName(stackName: string): Promise<string> {
  try {
    const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: stackName }))
    const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'TableName')
    if (output?.OutputValue !== undefined) {
      return output.OutputValue
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(
      `the stack ${stackName} cannot be read (${reason}): deploy it, choose another --stage, or add --local`,
    )
  }
  throw new UsageError(`the stack ${stackName} has no output TableName`)
}

function useLocalHost(dataDirectory: string): void {
  const host = readRunningHost(dataDirectory)
  if (host?.dynamoDbEndpoint === undefined || host.tableName === undefined) {
    throw new UsageError(
      `no local host runs over ${dataDirectory}: start it with \`npm start -- --data-dir ${dataDirectory}\``,
    )
  }
  Object.assign(process.env, {
    AWS_REGION: process.env.AWS_REGION ?? 'us-east-1',
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? 'local',
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
    AWS_ENDPOINT_URL_DYNAMODB: host.dynamoDbEndpoint,
    TABLE_NAME: host.tableName,
  })
}
