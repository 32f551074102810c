import { openTable, type Table } from '#adapters/stores/table.ts'
import { readRunningHost } from '#local/data-directory.ts'
import { UsageError } from './usage-error.ts'

type Where = { readonly local: boolean; readonly dataDirectory: string; readonly stage: string }

/**
 * The table that a command works on: a deployment's by default (usual AWS environment; `TABLE_NAME` overrides the stage's name),
 * or that of a local host that is running.
 * @throws UsageError when no local host runs over the data directory.
 */
export function openAdminTable({ local, dataDirectory, stage }: Where): Table {
  if (!local) {
    process.env.TABLE_NAME ??= `reelgate-${stage}`
    return openTable()
  }
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
  return openTable()
}
