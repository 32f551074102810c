import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { loadRoute } from '../engines/load-route.ts'
import { testLogVariables } from '../logs/test-logging.ts'
import { apiEvent, context, REQUEST_ID } from '../middleware/api-exchange.ts'

const KEY = 'any-key-of-a-test'
const JOB_ID = '01a1fc29-ad7d-744a-be2b-91335e7ede96'
/** Operations, and the shape of their errors. */
const OPERATIONS = [
  ['create-video-job', 'video'],
  ['get-video-job', 'video'],
  ['list-video-jobs', 'video'],
  ['delete-video-job', 'video'],
  ['get-video-receipt', 'video'],
  ['cancel-video-job', 'video'],
  ['resend-video-callback', 'video'],
  ['get-video-events', 'video'],
  ['create-video-quote', 'video'],
  ['get-usage', 'openai'],
  ['get-balance', 'openai'],
] as const

const PATHS = { video: '/v1/video/generations', openai: '/v1' }

/** The body of an error of the gateway. */
function errorBody(shape: keyof typeof PATHS, message: string): string {
  return JSON.stringify({
    error: shape === 'video' ? message : { message, type: 'server_error', param: null, code: null },
  })
}

const table = mockClient(DynamoDBDocumentClient)
const executions = mockClient(SFNClient)

const handlers = new Map<string, Awaited<ReturnType<typeof loadRoute>>>()

function throttled(): Error {
  const error = Object.assign(new Error('too fast'), { $metadata: {}, $fault: 'client' })
  error.name = 'ProvisionedThroughputExceededException'
  return error
}

async function invoke(operation: string, shape: keyof typeof PATHS = 'video') {
  const event = apiEvent({
    path: PATHS[shape],
    headers: { Authorization: `Bearer ${KEY}` },
    pathParameters: { job_id: JOB_ID },
    body: JSON.stringify({ model: 'famB-1.1-t2v', prompt: 'a secret prompt' }),
  })
  const handle = handlers.get(operation)
  if (handle === undefined) {
    throw new RangeError(`no handler ${operation}`)
  }
  const { headers = {}, ...result } = await handle(event, context)
  return { ...result, headers }
}

const ACTIVE_KEY = { tenantId: 't', keyId: 'k', state: 'active', models: null }
const QUEUED_JOB = {
  status: 'queued',
  model: 'famB-1.1-t2v',
  createdAt: 1,
  expiresAt: 2,
  videoKey: 'v/x',
  estimate: 1,
}

/** What AWS itself may do to a request, and what its client reads then. */
describe('platform faults', () => {
  beforeAll(async () => {
    const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-api-')), 'gateway.json')
    const environment = { P1_BASE_URL: 'http://127.0.0.1:9' }
    const { config } = loadGatewayConfig({ file: 'config/gateway.yaml', environment, mode: 'synth' })
    writeFileSync(configFile, JSON.stringify({ ...config, submit_wait_seconds: 0 }))
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      TABLE_NAME: 'table',
      BUCKET_NAME: 'bucket',
      STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:video',
      GATEWAY_CONFIG_FILE: configFile,
      ...testLogVariables(),
    })
    for (const [operation] of OPERATIONS) {
      handlers.set(operation, await loadRoute(operation))
    }
  })

  beforeEach(() => {
    table.reset()
    executions.reset()
    table.on(GetCommand).callsFake(({ Key }) => (Key.PK === 'SWITCHES' ? {} : { Item: ACTIVE_KEY }))
  })

  it.each(OPERATIONS)('%s 500: an internal fault shows no details', async (operation, shape) => {
    table.on(GetCommand).rejects(new Error('secret detail'))
    const { statusCode, body, headers } = await invoke(operation, shape)
    expect({ statusCode, body }).toEqual({ statusCode: 500, body: errorBody(shape, 'internal error') })
    expect(headers['x-request-id']).toBe(REQUEST_ID)
  })

  it.each(OPERATIONS)('%s 503: a throttled table returns Retry-After', async (operation, shape) => {
    table.on(GetCommand).rejects(throttled())
    const { statusCode, body, headers } = await invoke(operation, shape)
    expect({ statusCode, body }).toEqual({ statusCode: 503, body: errorBody(shape, 'service unavailable') })
    expect(headers['retry-after']).toBe('1')
  })

  it('create-video-job 503: a contended balance reserves nothing and is reported after a bounded number of attempts', async () => {
    table.on(TransactWriteCommand).rejects(
      new TransactionCanceledException({
        message: 'cancelled',
        $metadata: {},
        CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
      }),
    )
    expect((await invoke('create-video-job')).statusCode).toBe(503)
    const calls = table.commandCalls(TransactWriteCommand)
    expect(calls).toHaveLength(8)
    expect(new Set(calls.map((call) => call.args[0].input.ClientRequestToken)).size).toBe(1)
    expect(executions.commandCalls(StartExecutionCommand)).toHaveLength(0)
  })

  it('create-video-job 201: after a failed start the client gets its job, and Reconcile starts it', async () => {
    table.on(TransactWriteCommand).resolves({})
    executions.on(StartExecutionCommand).rejects(new Error('throttled'))
    table.on(GetCommand).callsFake(({ Key }) => ({
      Item: String(Key.PK).startsWith('K#')
        ? ACTIVE_KEY
        : Key.PK === 'SWITCHES'
          ? undefined
          : { ...Key, ...QUEUED_JOB },
    }))
    const { statusCode, body } = await invoke('create-video-job')
    expect(statusCode).toBe(201)
    expect(JSON.parse(body)).toMatchObject({ object: 'video.generation', status: 'queued' })
  })

  it('list-video-jobs 500: an unreadable page is not returned as an empty list', async () => {
    table.on(QueryCommand).rejects(new Error('broken'))
    expect((await invoke('list-video-jobs')).statusCode).toBe(500)
  })

  it('get-usage 500: an unreadable page is not returned as no usage', async () => {
    table.on(QueryCommand).rejects(new Error('broken'))
    expect((await invoke('get-usage', 'openai')).statusCode).toBe(500)
  })

  it('get-usage 400: more than eight megabytes of counters name `from`', async () => {
    table.on(QueryCommand).resolves({ Items: [], LastEvaluatedKey: { PK: 'U#t', SK: '2026-11-22#k' } })
    const { statusCode, body } = await invoke('get-usage', 'openai')
    expect(statusCode).toBe(400)
    expect(JSON.parse(body).error).toMatchObject({ param: 'from', message: expect.stringContaining('8 MB') })
    expect(table.commandCalls(QueryCommand)).toHaveLength(8)
  })

  it('delete-video-job 500: a failed write is not reported as a deletion', async () => {
    table.on(UpdateCommand).rejects(new Error('broken'))
    expect((await invoke('delete-video-job')).statusCode).toBe(500)
  })
})
