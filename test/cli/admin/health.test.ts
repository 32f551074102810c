import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  ListStackResourcesCommand,
  type StackStatus,
} from '@aws-sdk/client-cloudformation'
import { CloudWatchClient, DescribeAlarmsCommand, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { parseCredits } from '#core/money.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { channelDisable, modelDisable } from '../../../lib/cli/admin/channels.ts'
import { readStackResources } from '../../../lib/cli/admin/deployment.ts'
import { health } from '../../../lib/cli/admin/health.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { startTestTable, type TableWithClient, type TestTable } from '../../engines/test-table.ts'
import { openTenant, reserveJob, TESTER } from '../../engines/video-jobs.ts'
import { listenHttp } from '../../platform/http/loopback.ts'
import { openRelayingTenant } from '../../store/relay-ledger/relaying-tenant.ts'
import { runCommand } from './run-command.ts'

describe('a deployment', () => {
  const cloudFormation = mockClient(CloudFormationClient)
  const cloudWatch = mockClient(CloudWatchClient)
  const secrets = mockClient(SecretsManagerClient)
  process.env.AWS_REGION = 'us-east-1'
  delete process.env.AWS_ENDPOINT_URL

  let engine: TestTable
  let api: Awaited<ReturnType<typeof listenHttp>>
  let table: TableWithClient
  let status = 200
  beforeAll(async () => {
    engine = await startTestTable()
    api = await listenHttp((request, response) => {
      response.writeHead(request.url === '/dev/health' ? status : 404).end()
    })
  })
  beforeEach(async () => {
    table = await engine.fresh()
    status = 200
    beHealthy()
  })
  afterAll(async () => {
    await Promise.all([engine.close(), api.stop()])
  })

  const RESOURCES = [
    ['AWS::CloudWatch::Alarm', 'ServiceAlarmsApiErrors1', 'alarm-1'],
    ['AWS::Lambda::Function', 'ReconcileScheduleReconcile1', 'reconcile-fn'],
    ['AWS::SQS::Queue', 'ReconcileScheduleDeadLetters1', 'https://sqs/1/letters'],
  ].map(([ResourceType, LogicalResourceId, PhysicalResourceId]) => ({
    ResourceType,
    LogicalResourceId,
    PhysicalResourceId,
    LastUpdatedTimestamp: new Date(0),
    ResourceStatus: 'CREATE_COMPLETE' as const,
  }))

  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
  const config = testCatalogue({}, { main: { api_key: '${MAIN_KEY}' } }).config

  function haveStack(StackStatus: StackStatus, EnableTerminationProtection = true): void {
    const stack = { StackName: 'Reelgate-dev', CreationTime: new Date(0), StackStatus, EnableTerminationProtection }
    cloudFormation.on(DescribeStacksCommand, { StackName: 'Reelgate-dev' }).resolves({ Stacks: [stack] })
  }

  /** As lib/stack/service-alarms.ts writes it. */
  const ALARM = 'The API answers 5xx. Runbook: docs/runbook.md#apierrors'

  function haveMetric(MetricName: string, figures: { Sum?: number; Maximum?: number } | undefined): void {
    cloudWatch
      .on(GetMetricStatisticsCommand, { MetricName })
      .resolves({ Datapoints: figures === undefined ? [] : [figures, figures] })
  }

  function beHealthy(): void {
    for (const client of [cloudFormation, cloudWatch, secrets]) {
      client.reset()
    }
    haveStack('UPDATE_COMPLETE')
    cloudFormation.on(ListStackResourcesCommand).resolves({ StackResourceSummaries: RESOURCES })
    const TemplateBody = JSON.stringify({ Metadata: { ReelgateConfiguration: JSON.stringify(config) } })
    cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody })
    haveMetric('Invocations', { Sum: 5 })
    haveMetric('ApproximateNumberOfMessagesVisible', { Maximum: 0 })
    cloudWatch.on(DescribeAlarmsCommand).resolves({ MetricAlarms: [] })
    secrets.on(GetSecretValueCommand).resolves({ SecretString: '{"MAIN_KEY":"a secret"}' })
  }

  async function look() {
    const { json, text, isOk } = await runCommand(health, {
      table,
      outputs: { BaseUrl: `${api.origin}/dev/`, ChannelSecretArn: 'arn:secret' },
      resources: () => readStackResources('Reelgate-dev'),
    })
    expect(text).not.toContain('a secret')
    const wrong = Object(json).findings.filter(({ verdict }: { verdict: string }) => verdict !== 'ok')
    expect(wrong.every(({ advice }: { advice: string | null }) => advice !== null)).toBe(true)
    return {
      isOk,
      wrong: wrong.map(({ check, message }: { check: string; message: string }) => `${check}: ${message}`),
      text,
    }
  }

  it('in which all is well is healthy', async () => {
    const { jobId, tenantId } = await reserveJob(table, await openTenant(table))
    const { isOk, wrong, text } = await look()
    expect({ isOk, wrong }).toEqual({ isOk: true, wrong: [] })
    expect(text).toContain('the balance of 1 tenant adds up')
    expect(text).toContain(`1 open, the oldest job 0 min old: job ${jobId} of tenant ${tenantId}`)
  })

  it('that throws its data away is healthy without protection', async () => {
    haveStack('CREATE_COMPLETE', false)
    const Resources = {
      Bucket: { Type: 'AWS::S3::Bucket', DeletionPolicy: 'Delete' },
      Topic: { Type: 'AWS::SNS::Topic' },
    }
    const TemplateBody = JSON.stringify({ Metadata: { ReelgateConfiguration: JSON.stringify(config) }, Resources })
    cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody })
    expect((await look()).wrong).toEqual([])
  })

  it.each<[string, () => unknown, string | RegExp]>([
    ['was rolled back', () => haveStack('UPDATE_ROLLBACK_COMPLETE'), 'stack: Reelgate-dev is UPDATE_ROLLBACK_COMPLETE'],
    ['is being changed', () => haveStack('UPDATE_IN_PROGRESS'), 'stack: Reelgate-dev is UPDATE_IN_PROGRESS'],
    [
      'keeps its data and is not protected',
      () => {
        haveStack('CREATE_COMPLETE', false)
        const Resources = { Bucket: { Type: 'AWS::S3::Bucket', DeletionPolicy: 'RetainExceptOnCreate' } }
        const TemplateBody = JSON.stringify({ Metadata: { ReelgateConfiguration: JSON.stringify(config) }, Resources })
        cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody })
      },
      'protection: Reelgate-dev keeps its data and is not protected against deletion',
    ],
    [
      'has an alarm',
      () =>
        cloudWatch
          .on(DescribeAlarmsCommand, { AlarmNames: ['alarm-1'], StateValue: 'ALARM' })
          .resolves({ MetricAlarms: [{ AlarmName: 'alarm-1', AlarmDescription: ALARM }] }),
      'alarms: alarm-1 is in alarm: The API answers 5xx.',
    ],
    [
      'has no Reconcile run',
      () => haveMetric('Invocations', undefined),
      'reconcile: has not run in the last 15 minutes',
    ],
    [
      'has dead letters',
      () => haveMetric('ApproximateNumberOfMessagesVisible', { Maximum: 2 }),
      'dead letters: the queue holds 2',
    ],
    [
      'lacks a channel key',
      () => secrets.on(GetSecretValueCommand).resolves({ SecretString: '{"MAIN_KEY":""}' }),
      'channel keys: MAIN_KEY of channel main is missing',
    ],
    [
      'has an empty secret',
      () => secrets.on(GetSecretValueCommand).resolves({ SecretString: 'a secret' }),
      'channel keys: the channel secret is not a JSON object of strings',
    ],
    [
      'may not be asked for its secret',
      () =>
        secrets
          .on(GetSecretValueCommand)
          .rejects(Object.assign(new Error('no right'), { name: 'AccessDeniedException' })),
      'channel keys: could not be checked: no right',
    ],
    [
      'answers 503',
      () => {
        status = 503
      },
      /^api: http:.*\/dev\/health answers with status 503$/,
    ],
  ])('that %s is not, and only that is told, with what to do', async (_, breakIt, expected) => {
    breakIt()
    const { isOk, wrong } = await look()
    expect(isOk).toBe(false)
    expect(wrong).toEqual([typeof expected === 'string' ? expected : expect.stringMatching(expected)])
  })

  it('tells of a ringing alarm where in the runbook it stands', async () => {
    cloudWatch
      .on(DescribeAlarmsCommand)
      .resolves({ MetricAlarms: [{ AlarmName: 'alarm-1', AlarmDescription: ALARM }, { AlarmName: 'alarm-2' }] })
    const { text } = await look()
    expect(text).toContain('-> docs/runbook.md#apierrors explains it and says what to do.')
    expect(text).toContain('-> docs/runbook.md explains it and says what to do.')
  })

  it('with an open relayed request and no job names no oldest job', async () => {
    const tenant = await openRelayingTenant(table)
    await new RelayLedger(table).reserve(tenant.request('1'))
    const { isOk, text } = await look()
    expect(isOk).toBe(true)
    expect(text).toContain('1 open, none of a video job')
  })

  it('whose balance does not add up is not', async () => {
    const { tenantId } = await openTenant(table)
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.balance(tenantId),
        UpdateExpression: 'SET held = held + :one',
        ExpressionAttributeValues: { ':one': 1 },
      }),
    )
    expect(await look()).toMatchObject({
      isOk: false,
      wrong: [`table: the balance of tenant ${tenantId} does not add up`],
    })
  })

  it('in which nobody looks after open reservations is not', async () => {
    const hours = (count: number) => Math.trunc(Date.now() / 1000) - count * 3_600
    const tenant = await openTenant(table)
    await reserveJob(table, tenant, { createdAt: hours(1) })
    expect((await look()).wrong).toEqual(['reservations: 1 has been due for more than 5 minutes'])
    const { jobId } = await reserveJob(table, tenant, { createdAt: hours(16) })
    expect((await look()).wrong).toEqual([
      'reservations: 2 have been due for more than 5 minutes',
      `reservations: job ${jobId} of tenant ${tenant.tenantId} has been open for 16 h`,
    ])
  })
})

describe('health-command: health of a local host', () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-health-'))
  let engine: TestTable
  let server: Awaited<ReturnType<typeof listenHttp>>
  let figures: object = {}
  beforeAll(async () => {
    engine = await startTestTable()
    // Its POST is that of the figures of the channels.
    server = await listenHttp((request, response) => {
      response
        .writeHead(200)
        .end(request.method === 'POST' ? JSON.stringify({ channels: figures, credentials: {} }) : '')
    })
    process.env.AWS_ENDPOINT_URL_SFN = server.origin
  })
  beforeEach(() => {
    figures = {}
  })
  afterAll(async () => {
    delete process.env.AWS_ENDPOINT_URL_SFN
    await Promise.all([engine.close(), server.stop()])
    rmSync(dataDirectory, { recursive: true, force: true })
  })

  /** A port that was free a moment ago: whoever connects is refused. */
  async function closedPort(): Promise<number> {
    const listener = createServer()
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const address = listener.address()
    await new Promise((resolve) => listener.close(resolve))
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  async function look(
    mainUrl: string,
    { table, ...more }: { readonly table?: TableWithClient; identity?: object } = {},
  ) {
    const { config } = testCatalogue({}, { main: { base_url: mainUrl }, spare: { base_url: server.origin } })
    writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify({ ...config, ...more }))
    const outputs = { BaseUrl: server.origin }
    return await runCommand(health, { table: table ?? (await engine.fresh()), local: true, dataDirectory, outputs })
  }

  it('is fine when every upstream takes connections', async () => {
    const { isOk, text } = await look(server.origin)
    expect(isOk).toBe(true)
    expect(text).toMatch(/ok +connections +the upstreams of all channels \(\d\) accept connections/)
  })

  it('names the channel whose upstream refuses connections, with what to do', async () => {
    const port = await closedPort()
    const { isOk, text } = await look(`http://127.0.0.1:${port}`)
    expect(isOk).toBe(false)
    expect(text).toContain(`channel main: no connection to 127.0.0.1:${port} (ECONNREFUSED)`)
    expect(text).toContain('-> Check that the upstream runs and that its base_url is right')
    expect(text).not.toContain('channel spare:')
  })

  it('names one whose host does not exist', async () => {
    const { text } = await look('http://no-such-upstream.invalid')
    expect(text).toMatch(/channel main: no connection to no-such-upstream\.invalid \((ENOTFOUND|EAI_AGAIN)\)/)
  })

  it('names channels and models that operators have disabled, and models that no enabled channel serves', async () => {
    const table = await engine.fresh()
    const outputs = { BaseUrl: server.origin }
    const disable = (id: string, command = channelDisable) =>
      runCommand(command, { table, local: true, dataDirectory, outputs, options: { ID: id } })
    await look(server.origin, { table })
    await disable('main')
    await disable('famB-1.0-t2v', modelDisable)
    const one = await look(server.origin, { table })
    expect(one.isOk).toBe(true)
    expect(one.text).toMatch(/warning +channels +channel main is disabled by tester/)
    expect(one.text).toMatch(/warning +models +model famB-1\.0-t2v is disabled by tester/)
    await disable('spare')
    const both = await look(server.origin, { table })
    expect(both.isOk).toBe(false)
    expect(both.text).toMatch(/WRONG +models +no enabled channel serves /)
  })

  it('names a channel whose upstream refuses every call', async () => {
    const times = { p50Milliseconds: 3, p95Milliseconds: 5 }
    const refused = { calls: 3, errors: { http_4xx: 3 }, ...times }
    figures = { main: { ...refused, breaker: 'open' }, spare: { ...refused, calls: 4, breaker: 'closed' } }
    const { isOk, text } = await look(server.origin)
    expect(isOk).toBe(false)
    expect(text).toMatch(
      /WRONG +upstreams +channel main: 3 calls in the last minute, errors 3 \(3 http_4xx\); its breaker is open, for all tenants or for one/,
    )
    expect(text).toContain('`job list --tenant ID --status failed` shows those that no other channel served')
    expect(text).not.toContain('channel spare:')
    figures = { main: { ...refused, breaker: 'closed' } }
    expect((await look(server.origin)).text).toMatch(/warning +upstreams +channel main: 3 calls/)
  })

  it('names identity rules whose tenant does not exist or is suspended', async () => {
    const table = await engine.fresh()
    await makeTenant(table, { id: 'acme', name: 'Acme', credits: parseCredits('1') }, TESTER)
    const rule = (name: string, tenant: string) => ({ name, tenant, when: { sub: '*' }, rate: 60 })
    const rules = [rule('ci', 'Acme'), rule('lost', 'gone')]
    const identity = { issuers: [{ issuer: 'https://issuer.example.com', audience: ['a'], rules }] }
    const lost = await look(server.origin, { table, identity })
    expect(lost.isOk).toBe(false)
    expect(lost.text).toContain('identity rule lost: the tenant gone does not exist, so its callers get a 503')
    expect(lost.text).not.toContain('identity rule ci')
    await suspendTenant(table, 'acme', { actor: TESTER, reason: undefined })
    const { text } = await look(server.origin, { table, identity })
    expect(text).toContain('identity rule ci: the tenant Acme is suspended, so its callers get a 401')
  })

  it('says in one sentence that the host left a broken configuration', async () => {
    writeFileSync(join(dataDirectory, 'gateway.json'), '')
    const outputs = { BaseUrl: server.origin }
    const { text } = await runCommand(health, { table: await engine.fresh(), local: true, dataDirectory, outputs })
    expect(text).toContain('gateway.json is empty, cut or of another program')
  })
})
