import type { ZodType } from 'zod'
import type { Session } from '#core/admin/session.ts'
import { matchPath } from '#core/api/paths.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import type { WriteContext } from '#lambdas/admin-api/write/write-context.ts'
import { writeOperations } from '#lambdas/admin-api/write/write-operations.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { type AuditEntry, readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import { ADMIN_DOCUMENTS } from '../../../lib/cli/admin/commands.ts'
import {
  ADMIN_RESPONSE_SCHEMAS,
  ADMIN_WRITE_OPERATIONS,
  type AdminOperationDocument,
} from '../../../lib/openapi/admin-operations.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { startTestTable } from '../../engines/test-table.ts'
import { adminEvent, tableWithSession } from '../../middleware/admin-exchange.ts'
import { context as lambda } from '../../middleware/api-exchange.ts'

type Call = {
  /** JSON, or a string that is sent as it is. */
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
  readonly session?: Partial<Session>
}

/** A response of the write function; `body` is parsed, and undefined without one. */
// biome-ignore lint/suspicious/noExplicitAny: tests read the members that they compare.
type Response = { readonly status: number; readonly body: any }

type Options = Partial<Pick<WriteContext, 'openBucket' | 'nowMilliseconds' | 'network'>> & {
  readonly catalogue?: Catalogue
}

/** Calls operations of the write function through its chain, over a table. */
export function writeCaller(table: Table, options: Options = {}) {
  process.env.CONSOLE_ORIGIN = 'loopback'
  const context = {
    table,
    nowMilliseconds: options.nowMilliseconds ?? Date.now,
    openBucket: options.openBucket ?? (() => Promise.reject(new Error('no bucket'))),
    openCatalogue: () => options.catalogue ?? testCatalogue(),
    openUrlSigner: async () => () => 'https://cdn.example/v',
    ...(options.network === undefined ? {} : { network: options.network }),
  }
  return async (method: string, path: string, { body, query, session }: Call = {}): Promise<Response> => {
    const handler = adminHandler('write', writeOperations(context), { openTable: tableWithSession(session) })
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const event = adminEvent(method, `/admin/v1${path}`, { ...sent, queryStringParameters: { ...query } })
    const response = await handler(event, lambda)
    const received = { status: response.statusCode, body: response.body === '' ? undefined : JSON.parse(response.body) }
    requireDocumented(method, path, received)
    return received
  }
}

/** @throws ZodError for a success that is not what the document of the admin API says, Error for a status that is not in its row. */
function requireDocumented(method: string, path: string, { status, body }: Response): void {
  const route = ALL_ADMIN_ROUTES.find(
    (each) => each.method === method && matchPath(each.path, `/admin/v1${path}`) !== undefined,
  )
  if (route !== undefined && ![route.successStatus, ...route.errorStatuses].includes(status)) {
    throw new Error(`${route.operation} does not declare ${status}`)
  }
  if (status === route?.successStatus) {
    outputOf(route.operation)?.parse(body)
  }
}

function outputOf(operation: string): ZodType | undefined {
  const documents: Readonly<Record<string, AdminOperationDocument>> = ADMIN_WRITE_OPERATIONS
  const schemas: Readonly<Record<string, ZodType>> = ADMIN_RESPONSE_SCHEMAS
  const defined = ADMIN_DOCUMENTS.find((document) => document.operation.name === operation)
  return defined?.output ?? schemas[documents[operation]?.response.schema ?? '']
}

/** A table, a caller of the operations, and the newest entries of the audit log about a target. */
export async function startWriteRig() {
  const engine = await startTestTable()
  const { table } = engine
  return {
    engine,
    table,
    call: writeCaller(table),
    audit: async (target: string): Promise<readonly AuditEntry[]> =>
      (await readAudit(table, { limit: 20, targets: [target] })).entries,
    close: () => engine.close(),
  }
}

/** The rig of one test file. */
export type WriteRig = Awaited<ReturnType<typeof startWriteRig>>
