import type { Session } from '#core/admin/session.ts'
import { VerificationRate } from '#lambdas/admin/verification-rate.ts'
import type { ReadContext } from '#lambdas/admin-api/read/read-context.ts'
import { readOperations } from '#lambdas/admin-api/read/read-operations.ts'
import { summarySource } from '#lambdas/admin-api/read/summary-source.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { adminEvent, tableWithSession } from '../../middleware/admin-exchange.ts'
import { context as lambdaContext } from '../../middleware/api-exchange.ts'

/** A response of the function that reads, with the requests to the table, that of the session included. */
export type AdminRead = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly requests: number
}

/** The session of an API key. */
export function keyOf(tenantId: string): Partial<Session> {
  return { role: 'tenant', kind: 'api_key', keyId: 'k1', tenant: { id: tenantId, name: 'Test' } }
}

/** Asks the function that reads, over a real table. */
export function readRig(table: TableWithClient, changes: Partial<ReadContext> = {}) {
  return async (
    path: string,
    query: Readonly<Record<string, string>> = {},
    session: Partial<Session> = {},
  ): Promise<AdminRead> => {
    let requests = 1
    const counted: ReturnType<ReadContext['table']> = {
      readItem: async (...parameters) => {
        requests += 1
        return await table.readItem(...parameters)
      },
      readItems: async (...parameters) => {
        requests += 1
        return await table.readItems(...parameters)
      },
      queryPage: async (...parameters) => {
        requests += 1
        return await table.queryPage(...parameters)
      },
    }
    const context: ReadContext = {
      table: () => counted,
      config: () => testCatalogue().config,
      figures: async () => undefined,
      summary: summarySource({ table: () => table, now: Date.now, isLive: true }),
      verifications: new VerificationRate(),
      describeExecution: async () => 'running',
      openBucket: () => Promise.reject(new Error('no bucket')),
      openSigner: async () => (job) => `https://videos.example.com/${job.videoKey}?until=${job.expiresAt}`,
      now: Date.now,
      ...changes,
    }
    const handler = adminHandler('read', readOperations(context), { openTable: tableWithSession(session, table) })
    const event = adminEvent('GET', `/admin/v1${path}`, { queryStringParameters: { ...query } })
    const { statusCode, body } = await handler(event, lambdaContext)
    return { status: statusCode, body: JSON.parse(body), requests }
  }
}
