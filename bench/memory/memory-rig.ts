import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { createDocumentClient, openTable } from '#adapters/store/table/sdk-table.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { parseCredits } from '#core/money/money.ts'
import { createTable } from '#local/create-table.ts'

/** What a function needs beside its code. */
export type MemoryRig = {
  readonly environment: NodeJS.ProcessEnv
  /** Of a tenant with credits for every request. */
  readonly key: string
}

/** Creates the table and a tenant in a running engine. */
export async function prepareRig(endpoint: string): Promise<MemoryRig> {
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    TABLE_NAME: 'reelgate-bench',
  }
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials })
  await createTable(environment.TABLE_NAME, client)
  const table = openTable({ client: createDocumentClient(client), name: environment.TABLE_NAME })
  const key = generateApiKey()
  const actor = { name: 'bench', role: 'operator' } as const
  await makeTenant(table, { id: 'bench', name: 'Bench', credits: parseCredits('1000000') }, actor)
  await storeApiKey(table, { key, tenantId: 'bench', models: null }, actor)
  client.destroy()
  return { environment, key }
}

/** A configuration with one channel and a model of each kind. */
export function configurationOf(baseUrl: string): object {
  const billing = { billing: 'token', prices: [{ input_per_million: '0.15', output_per_million: '0.60' }] }
  return gatewayConfigSchema.parse({
    channels: [{ id: 'one', provider: 'openai', base_url: baseUrl, models: { chat: 'm', image: 'm', embedding: 'm' } }],
    models: [
      { id: 'chat', kind: 'chat', ...billing, context_tokens: 2_000_000, max_output_tokens: 16_384 },
      {
        id: 'image',
        kind: 'image',
        billing: 'per_image',
        prices: [{ price: '0.01' }],
        sizes: ['1024x1024'],
        n: { max: 1 },
      },
      {
        id: 'embedding',
        kind: 'embedding',
        billing: 'token',
        max_input_tokens: 8192,
        default_dimensions: 1536,
        dimensions: false,
        prices: [{ input_per_million: '0.02' }],
      },
    ],
  })
}
