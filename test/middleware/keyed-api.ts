import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { expect } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { formatApiKey } from '#core/api-key.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { type ApiEvent, authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { keyedChain } from '#middleware/api-handler.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { apiEvent, context, REQUEST_ID, seen } from './api-exchange.ts'

export const KEY = formatApiKey('Ab3dEf9h', 'k'.repeat(32))

export const dynamo = mockClient(DynamoDBDocumentClient)
export const table = openTable({ name: 'table' })

export const item = { tenantId: 'tenant-1', keyId: 'Ab3dEf9h', state: 'active', models: null }

export function storeKey(members: Record<string, unknown> = {}) {
  dynamo.on(GetCommand).resolves({ Item: { ...item, ...members } })
}

const route = { operation: 'test', query: [], bodyBytesMax: 1000 }

export const handler = keyedChain(route, { openTable: () => table }).handler(async (event) => {
  if (event.pathParameters?.missing) {
    throw new VideoJobNotFoundError()
  }
  return jsonResult(200, JSON.stringify({ caller: authenticatedCaller(event), json: event.json }))
})

export async function call(members: Partial<ApiEvent> = {}) {
  return seen(await handler(apiEvent({ body: '{}', headers: { Authorization: `Bearer ${KEY}` }, ...members }), context))
}

/** What every response of a failed request has. */
export const ERROR_HEADERS = {
  'content-type': 'application/json',
  'x-request-id': REQUEST_ID,
  'openai-processing-ms': expect.stringMatching(/^\d+$/),
  'x-content-type-options': 'nosniff',
}

/** Every refused key gets exactly this. */
export const UNAUTHORIZED = {
  statusCode: 401,
  headers: { ...ERROR_HEADERS, 'x-should-retry': 'false' },
  body: { error: 'invalid api key' },
}
