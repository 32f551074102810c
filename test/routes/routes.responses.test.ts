import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { declaredStatuses, type Route } from '#routes/define-route.ts'
import { type Operation, ROUTES } from '#routes/index.ts'
import { API_FUNCTIONS } from '#stack/function-needs.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { CHAT, sendJson } from '../engines/relay-rig.ts'
import { RELAYED } from '../engines/relayed-samples.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'
import { AUDIENCE, startIssuer, type TestIssuer } from '../engines/test-issuer.ts'
import { requireReservation, reserveJob, settle, TESTER } from '../engines/video-jobs.ts'
import { requireDocumented } from '../openapi/documented-answer.ts'
import { type Received, type RecordedApi, type Sent, startRecordedApi } from './recorded-api.ts'

const VIDEO = { model: PER_SECOND_MODEL, prompt: 'a boat' }
/** Larger than the record of a job may be. */
const LARGE_VIDEO = { ...VIDEO, image_urls: [`data:image/png;base64,${'A'.repeat(40_000)}`] }

/** A request that an operation accepts, and what the upstream replies. */
function sampleOf({ operation, input }: Route): { readonly body?: object; readonly reply?: object } {
  return RELAYED.find((each) => each.operation === operation) ?? (input === undefined ? {} : { body: VIDEO })
}

let api: RecordedApi
let issuer: TestIssuer
const identityFile = join(mkdtempSync(join(tmpdir(), 'reelgate-identity-')), 'identity.json')
let client: Awaited<ReturnType<RecordedApi['newClient']>>
beforeAll(async () => {
  issuer = await startIssuer()
  const issuers = [{ issuer: issuer.issuer, audience: [AUDIENCE], rules: [] }]
  writeFileSync(identityFile, JSON.stringify({ issuers, trusted_origins: [] }))
  process.env.IDENTITY_FILE = identityFile
  api = await startRecordedApi()
  client = await api.newClient()
  await changeTenant(api.table, { tenantId: client.tenant.tenantId, settings: { users: 'given' }, actor: TESTER })
})
afterAll(async () => {
  rmSync(dirname(identityFile), { recursive: true, force: true })
  await issuer.stop()
  await api.close()
})

/** A request that the route accepts, but for these changes. */
async function good(route: Route, changes: Partial<Sent> = {}): Promise<Received> {
  const { body, reply } = sampleOf(route)
  api.upstream.answerWith((response) => sendJson(response, reply))
  const parameters = { model: CHAT, ...(changes.parameters ?? { job_id: await jobFor(route) }) }
  // A tenant that counts users is asked about those that relayed requests name.
  const headers = { ...(route.relays === true ? { 'x-reelgate-user': uuidv7() } : {}), ...changes.headers }
  return await api.send(route, { key: client.key, body, ...changes, headers, parameters })
}

/** A job that the operation accepts, of the client. */
async function jobFor({ operation, path }: Route): Promise<string> {
  if (!path.includes('{job_id}')) {
    return ''
  }
  if (operation === 'cancel-video-job') {
    const job = await reserveJob(api.table, client.tenant)
    await api.executions.submit(job)
    return job.jobId
  }
  return (await endedJob(api.callbackUrl)).jobId
}

/** A settled job, whose submit reply is in the bucket. */
async function endedJob(callbackUrl?: string) {
  const made = await reserveJob(api.table, client.tenant, { callbackUrl })
  await api.executions.submit(made)
  const job = await getVideoJob(api.table, made.tenantId, made.jobId)
  if (job === undefined) {
    throw new TypeError('no job')
  }
  const reservation = await requireReservation(api.table, job)
  await resolveReservation(api.table, { job, reservation, resolution: settle('0.5'), nowMilliseconds: Date.now() })
  return job
}

type Case = (route: Route) => Promise<Received>

/** How a declared status comes about, whatever the route is. */
const CASES: Readonly<Record<number, Case>> = {
  400: (route) => good(route, { query: '?no-such=1', headers: { prefer: 'handling=strict' } }),
  401: (route) => good(route, { key: 'nobody' }),
  402: async (route) => good(route, { key: (await api.newClient('0')).key }),
  403: async (route) => good(route, { key: await issuer.token() }),
  404: (route) =>
    route.input === undefined
      ? good(route, { parameters: { job_id: uuidv7(), model: 'nothing' } })
      : good(route, { body: { ...bodyOf(route), model: 'nothing' } }),
  413: (route) => good(route, { body: { ...bodyOf(route), more: 'x'.repeat(5 * 1024 * 1024) } }),
  429: async (route) => {
    const { key } = await api.newClient('10', 1)
    await good(route, { key })
    return await good(route, { key })
  },
  500: (route) => whileTableFails(route, 'ValidationException'),
  // The SDK itself does not retry this one.
  503: (route) => whileTableFails(route, 'TransactionConflictException'),
  502: (route) => {
    api.upstream.answerWith((response) => sendJson(response, '{}', 500))
    return api.send(route, { key: client.key, body: bodyOf(route) })
  },
  504: (route) => {
    api.upstream.answerWith(() => undefined)
    return api.send(route, { key: client.key, body: bodyOf(route) })
  },
}

function bodyOf(route: Route): object {
  return Object(sampleOf(route).body)
}

/** A client whose key no process has in memory. */
async function whileTableFails(route: Route, error: string): Promise<Received> {
  const { key } = await api.newClient()
  const parameters = { job_id: uuidv7(), model: CHAT }
  return await api.whileTableFails(error, () =>
    api.send(route, { key, parameters, body: route.input === undefined ? undefined : bodyOf(route) }),
  )
}

/** Statuses that come about in a way of their own, and successes that reach what the plain one does not. */
const OWN_CASES: Readonly<Partial<Record<Operation, Readonly<Record<number, Case>>>>> = {
  'create-video-job': {
    201: async (route) => {
      const headers = { 'idempotency-key': uuidv7() }
      await good(route, { headers })
      await good(route, { headers })
      return await good(route, { headers: { 'idempotency-key': uuidv7() }, body: LARGE_VIDEO })
    },
    402: async (route) => good(route, { key: (await api.newClient('0')).key, body: LARGE_VIDEO }),
    409: async (route) => {
      const headers = { 'idempotency-key': uuidv7() }
      await good(route, { headers })
      return await good(route, { headers, body: { ...VIDEO, duration: 6 } })
    },
  },
  'get-usage': { 200: async (route) => good(route, { query: '?group_by=user,key' }) },
  'delete-video-job': {
    200: async (route) => {
      const { jobId } = await reserveJob(api.table, client.tenant)
      await good(route, { parameters: { job_id: jobId } })
      return await good(route)
    },
  },
  'cancel-video-job': { 409: async (route) => good(route, { parameters: { job_id: (await endedJob()).jobId } }) },
  'resend-video-callback': {
    409: async (route) => good(route, { parameters: { job_id: (await reserveJob(api.table, client.tenant)).jobId } }),
  },
  'get-video-events': {
    204: async (route) => {
      const parameters = { job_id: (await endedJob()).jobId }
      const accept = 'text/event-stream'
      const { text } = await good(route, { parameters, headers: { accept } })
      const lastId = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
      return await good(route, { parameters, headers: { accept, 'last-event-id': lastId } })
    },
  },
  'get-openapi-document': {
    200: (route) => {
      process.env.OPENAPI_FILE = `${REPOSITORY_ROOT}/openapi.json`
      return good(route)
    },
    304: (route) => {
      process.env.OPENAPI_FILE = `${REPOSITORY_ROOT}/openapi.json`
      return good(route, { headers: { 'if-none-match': '*' } })
    },
    500: (route) => good(route),
  },
}

function caseOf(route: Route, status: number): Case {
  const own: Readonly<Record<number, Case>> | undefined = Object(OWN_CASES)[route.operation]
  return own?.[status] ?? (status === route.successStatus ? good : CASES[status]) ?? noCase
}

async function noCase(route: Route): Promise<never> {
  throw new TypeError(`a status of ${route.operation} has no case here`)
}

describe.each<Route>([...ROUTES])('$operation over HTTP', (route) => {
  // Successes come last: a process that has read the OpenAPI document keeps it.
  it.each([...declaredStatuses(route)].toReversed())('responds %i as openapi.json describes it', async (status) => {
    const { path, headers, text, ...received } = await caseOf(route, status)(route)
    expect({ status: received.status, text }).toEqual({ status, text: expect.any(String) })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    if (text !== '') {
      requireDocumented({ method: route.method, path, status, contentType: headers.get('content-type'), text })
    }
  })
})

/** What a function may do and does not do here, and why. */
const UNREACHED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'create-video-job': {
    'DeleteObject requests/': 'a reservation is refused although a read before foresaw none',
  },
  ...Object.fromEntries(
    ROUTES.filter(({ relays }: Route) => relays === true).map(({ operation }) => [
      operation,
      {
        'ConditionCheckItem L#*': 'only the relay server writes reservations and settlements in one transaction',
        'ConditionCheckItem U#*': 'as above',
        'PutItem K#*': 'only the relay server writes reservations and settlements in one transaction',
      },
    ]),
  ),
}

describe.each(API_FUNCTIONS)('the function $name', ({ name, needs }) => {
  const declared = [
    ...needs.table.flatMap(({ actions, partitions }) =>
      actions.flatMap((action) => partitions.map((partition) => `${action} ${partition}`)),
    ),
    ...Object.entries(needs.objects ?? {}).flatMap(([prefix, actions]) =>
      actions.map((action) => `${action} ${prefix}`),
    ),
    ...(needs.startsExecutions ? ['StartExecution'] : []),
  ]

  it('asks table, bucket and state machine for nothing that its routes do not declare', () => {
    expect([...api.recordedOf(name)].filter((access) => !declared.includes(access)).toSorted()).toEqual([])
  })

  it('asks for everything that its routes declare', () => {
    const recorded = api.recordedOf(name)
    const isReached = (access: string) =>
      recorded.has(access) ||
      // What a batch leaves out is read by itself.
      recorded.has(access.replace(/^GetItem/, 'BatchGetItem')) ||
      // Once in 15 seconds, one of the functions that share this process reads the switches.
      access === 'GetItem SWITCHES'
    const unreached = declared.filter((access) => !isReached(access))
    expect([...new Set(unreached)].toSorted()).toEqual(Object.keys(UNREACHED[name] ?? {}))
  })
})
