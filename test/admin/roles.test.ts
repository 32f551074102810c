import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Session } from '#core/admin/session.ts'
import { timeOrderedId } from '#core/ids.ts'
import { parseCredits } from '#core/money.ts'
import { GIVEN_ROLES, isOfTenant, mayAccess, type Role } from '#core/roles.ts'
import type { AdminOperation } from '#lambdas/admin/operation.ts'
import { READS } from '#lambdas/admin/reads.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { VerificationRate } from '#lambdas/admin/verification-rate.ts'
import { WRITES } from '#lambdas/admin/writes.ts'
import { readOperations } from '#lambdas/admin-api/read/read-operations.ts'
import { summarySource } from '#lambdas/admin-api/read/summary-source.ts'
import { writeOperations } from '#lambdas/admin-api/write/write-operations.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { type AdminRequest, requestOf } from '../admin-api/admin-requests.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { settledJob, TESTER } from '../engines/video-jobs.ts'
import { adminEvent, tableWithSession } from '../middleware/admin-exchange.ts'
import { captureLog, context } from '../middleware/api-exchange.ts'

const engine = useTestTable()
const { table } = engine

/** What it shows is of no tenant. */
const OF_NO_TENANT = ['list-models']

const ROLES: readonly Role[] = [...GIVEN_ROLES, 'tenant']
const ROUTES = ALL_ADMIN_ROUTES.filter((route) => route.function !== 'sign-in')
const OF_TENANTS = ROUTES.filter(({ access }) => ROLES.some((role) => isOfTenant(role) && mayAccess(role, access)))

/** The tenant of the roles, and another one, whose name and ids hold a word that nobody of `acme` may see. */
const FOREIGN = 'rival'
const TENANTS = { acme: 'k1', [FOREIGN]: 'rivalkey' }
const jobs: Record<string, string> = {}

beforeAll(async () => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  captureLog()
  for (const [id, keyId] of Object.entries(TENANTS)) {
    await makeTenant(table, { id, name: `The ${id}`, credits: parseCredits('100') }, TESTER)
    for (const suffix of ['', 'a', 'b']) {
      const digest = `${keyId}${suffix}`.padEnd(64, '0')
      const key = { keyId: `${keyId}${suffix}`, tenantId: id, digest, models: null, createdAt: 0, ratePerMinute: 9 }
      await putApiKey(table, key, TESTER)
    }
    const tenant = { tenantId: id, keyDigest: keyId.padEnd(64, '0'), webhookSecret: 'whsec_x' }
    for (let count = 0; count < 3; count += 1) {
      const job = await settledJob(table, tenant, { bill: '0.7' })
      jobs[id] = job.jobId
    }
  }
})

const never = () => Promise.reject(new Error('the test has no such service'))
const HANDLERS = {
  read: readOperations({
    table: () => table,
    config: () => testCatalogue().config,
    figures: async () => undefined,
    summary: summarySource({ table: () => table, now: Date.now, isLive: true }),
    verifications: new VerificationRate(),
    describeExecution: never,
    openBucket: never,
    openSigner: async () => () => 'https://videos.example.com/v',
    now: Date.now,
  }),
  write: writeOperations({
    table,
    nowMilliseconds: Date.now,
    openBucket: never,
    openCatalogue: () => testCatalogue(),
    openUrlSigner: async () => () => 'https://videos.example.com/v',
  }),
}

function sessionOf(role: Role): Partial<Session> {
  const tenant = isOfTenant(role) ? { id: 'acme', name: 'The acme' } : null
  return role === 'tenant' ? { role, tenant, kind: 'api_key', keyId: 'k1' } : { role, tenant, kind: 'oidc' }
}

type Route = (typeof ROUTES)[number]

async function send(role: Role, { method, function: name }: Route, request: AdminRequest) {
  const operations = HANDLERS[name === 'read' ? 'read' : 'write']
  const handler = adminHandler(name, operations, { openTable: tableWithSession(sessionOf(role), table) })
  const { path, body, query } = request
  const event = adminEvent(method, path, {
    ...(body === undefined ? {} : { body }),
    queryStringParameters: { ...query },
  })
  const response = await handler(event, context)
  return { status: response.statusCode, text: response.body }
}

/** The request of an operation about a tenant, its key and its job. */
function requestAbout(tenant: 'acme' | typeof FOREIGN, route: Route): AdminRequest {
  const { path, query, body } = requestOf(route)
  const own = { ...JSON.parse(body ?? '{}'), ...(hasField(route, 'tenant') ? { tenant } : {}) }
  return {
    path: path
      .replace('/tenants/acme', `/tenants/${tenant}`)
      .replace(/\/keys\/a\b/, `/keys/${TENANTS[tenant]}`)
      .replace(/01980000-[\w-]+/, jobs[tenant] ?? ''),
    query: 'tenant' in query ? { ...query, tenant } : query,
    ...(body === undefined ? {} : { body: JSON.stringify(own) }),
  }
}

function hasField(route: Route, name: string): boolean {
  return bodyFields(route).includes(name)
}

/** Each operation with each role that it serves, or does not serve. */
function pairs(isServed: boolean) {
  return ROLES.flatMap((role) =>
    ROUTES.filter(({ access }) => mayAccess(role, access) === isServed).map((route) => ({ role, route })),
  ).map((pair) => [pair.route.operation, pair.role, pair] as const)
}

describe('operations of the admin API', () => {
  it.each(pairs(false))('%s refuses the role %s', async (_, _role, { role, route }) => {
    const { status, text } = await send(role, route, requestAbout('acme', route))
    expect({ status, code: JSON.parse(text).error.code }).toEqual({ status: 403, code: 'forbidden' })
  })

  it.each(pairs(true).filter(([, role]) => !isOfTenant(role)))(
    '%s serves the role %s for every tenant',
    async (_, _role, { role, route }) => {
      expect((await send(role, route, requestAbout(FOREIGN, route))).status).not.toBe(403)
    },
  )
})

describe.each(ROLES.filter(isOfTenant))('the role %s of a tenant', (role) => {
  const served = ROUTES.filter(({ access }) => mayAccess(role, access))
  const named = served.filter(({ operation }) => !OF_NO_TENANT.includes(operation))

  it.each(named)('neither sees nor changes another tenant by $operation', async (route) => {
    const before = await send('owner', AUDIT, requestOf(AUDIT))
    const { status, text } = await send(role, route, requestAbout(FOREIGN, route))
    expect([403, 404]).toContain(status)
    expect(text.replace(/no key \w+/, '').toLowerCase()).not.toContain(FOREIGN)
    const after = await send('owner', AUDIT, requestOf(AUDIT))
    expect(JSON.parse(after.text).entries).toEqual(JSON.parse(before.text).entries)
  })

  it.each(served.filter(({ function: name }) => name === 'read'))(
    'sees its own tenant alone in $operation, whatever the filter and the cursor',
    async (route) => {
      const own = requestAbout('acme', route)
      const cursors = await cursorsOf(route)
      for (const after of [undefined, ...cursors]) {
        const query = { ...own.query, ...(after === undefined ? {} : { after }) }
        const { status, text } = await send(role, route, { ...own, query })
        expect([200, 400]).toContain(status)
        expect(text.toLowerCase()).not.toContain(FOREIGN)
        expect(text).not.toContain(jobs[FOREIGN])
      }
    },
  )

  it('finds no ledger row, job or request of another tenant by its id', async () => {
    const ledger = routeOf('list-ledger')
    const { text } = await send(role, ledger, {
      ...requestOf(ledger),
      query: { tenant: 'acme', id: jobs[FOREIGN] ?? '' },
    })
    expect(JSON.parse(text).entries).toEqual([])
    const video = routeOf('get-video')
    const { path } = requestAbout(FOREIGN, video)
    expect((await send(role, video, { path, query: { tenant: 'acme' } })).status).toBe(404)
  })
})

/** What an upstream said, and the channels of the catalogue and of the jobs. */
const OF_UPSTREAMS = /said-by-upstream|"main"|"spare"|"ch-[^"]+"/g

describe('what names or quotes an upstream', () => {
  const reads = ROUTES.filter(({ function: name }) => name === 'read')

  beforeAll(async () => {
    const said = 'said-by-upstream'
    await table.updateItem({
      Key: tableKeys.job('acme', jobs.acme ?? ''),
      UpdateExpression: 'SET failureCause = :said, taskId = :said, submitText = :json, pollText = :json',
      ExpressionAttributeValues: { ':said': said, ':json': JSON.stringify({ said }) },
    })
    const id = timeOrderedId(randomUUID(), Date.now())
    await table.updateItem({
      Key: tableKeys.ledgerResolution('acme', id),
      UpdateExpression:
        'SET kind = :kind, job = :id, amount = :zero, #at = :at, reservedAt = :at, channel = :main, cause = :said, failure = :failure',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: {
        ...{ ':kind': 'release', ':id': id, ':zero': 0, ':at': Date.now(), ':main': 'main' },
        ...{ ':said': said, ':failure': 'upstream_auth' },
      },
    })
  })

  /** What of it the role finds in a read of the tenant, and of all tenants. */
  async function found(role: Role, route: Route): Promise<readonly string[]> {
    const request = requestAbout('acme', route)
    const asked = [request, { ...request, query: {} }]
    const texts = await Promise.all(asked.map(async (each) => (await send(role, route, each)).text))
    return texts.flatMap((text) => text.match(OF_UPSTREAMS) ?? [])
  }

  it.each(['list-requests', 'list-ledger', 'list-videos', 'get-video', 'get-overview', 'list-models'])(
    'is in %s for owners and viewers',
    async (name) => {
      expect(await found('owner', routeOf(name))).not.toEqual([])
      expect(await found('viewer', routeOf(name))).not.toEqual([])
    },
  )

  it.each(ROLES.filter((role) => !mayAccess(role, 'viewer')))('is in no read of the role %s', async (role) => {
    for (const route of reads) {
      expect([route.operation, await found(role, route)]).toEqual([route.operation, []])
    }
  })

  it('leaves tenants the code that the client got', async () => {
    const { text } = await send('tenant-viewer', routeOf('list-requests'), requestOf(routeOf('list-requests')))
    expect(JSON.parse(text).requests).toMatchObject([{ failure: 'upstream_auth', channel: null, cause: null }])
  })
})

const AUDIT = routeOf('list-audit')

function routeOf(name: string): Route {
  const route = ROUTES.find(({ operation }) => operation === name)
  if (route === undefined) {
    throw new Error(`no operation ${name}`)
  }
  return route
}

/** Cursors of the other tenant's pages of a list; none for what is no list. */
async function cursorsOf(route: Route): Promise<readonly string[]> {
  if (!route.query?.includes('after')) {
    return []
  }
  const request = requestAbout(FOREIGN, route)
  const { text } = await send('owner', route, { ...request, query: { ...request.query, limit: '1' } })
  const { next } = JSON.parse(text)
  return typeof next === 'string' ? [next] : []
}

describe('an operation that serves a role of a tenant', () => {
  it.each(OF_TENANTS.filter(({ operation }) => !OF_NO_TENANT.includes(operation)))(
    'names the tenant or a key of it: $operation',
    (route) => {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect([...names, ...(route.query ?? []), ...bodyFields(route)]).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(tenant_id|tenant|key_id)$/)]),
      )
    },
  )
})

function bodyFields({ operation }: Route): readonly string[] {
  const found = [...READS, ...WRITES].find(({ name }) => name === operation) as AdminOperation | undefined
  return Object.keys(Object(found?.body?.()).shape ?? {})
}
