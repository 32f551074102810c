import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import {
  CloudWatchClient,
  GetMetricDataCommand,
  type GetMetricDataCommandInput,
  type MetricDataResult,
} from '@aws-sdk/client-cloudwatch'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { DESCRIBE_CHANNELS, startAwsFront } from '#local/aws-front.ts'
import type { HttpServer } from '#platform/http-server/http-server.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import {
  channelClear,
  channelDisable,
  channelEnable,
  channelList,
  channelPrioritySet,
  channelWeightSet,
} from '../../../lib/cli/admin/channels.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { CONFIGURATION_METADATA } from '../../../lib/config/load-gateway-config.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { openTenant, reserveJob } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'
import { useSwitching } from './switching.ts'

describe('channel commands', () => {
  const { run, switches, warnings, deploy, table } = useSwitching()

  const BY = { by: 'tester@test', at: expect.any(Number) }

  it('switch a channel in the name of the person, and record it', async () => {
    await run(channelWeightSet, 'main', '0.5')
    await run(channelPrioritySet, 'main', '0')
    await run(channelDisable, 'main')
    expect(await switches()).toEqual({
      channels: {
        main: { enabled: { value: false, ...BY }, weight: { value: 0.5, ...BY }, priority: { value: 0, ...BY } },
      },
      models: {},
    })
    const { entries } = await readAudit(table(), { limit: 10 })
    expect(entries.map(({ actor, action, target }) => `${actor}: ${action} ${target}`).sort()).toEqual([
      'tester@test: channel disable main',
      'tester@test: channel priority main',
      'tester@test: channel weight main',
    ])
  })

  it('end a disablement alone, or everything', async () => {
    await run(channelWeightSet, 'main', '2')
    await run(channelDisable, 'main')
    await run(channelEnable, 'main')
    expect((await switches()).channels).toEqual({ main: { weight: { value: 2, ...BY } } })
    await run(channelClear, 'main')
    expect((await switches()).channels).toEqual({})
  })

  it('say what is set now, since when, and whether anything changed', async () => {
    const { json, text } = await run(channelDisable, 'main')
    const settings = [{ setting: 'state', value: 'disabled', by: 'tester@test', since: expect.any(String) }]
    expect(json).toEqual({ kind: 'channel', id: 'main', changed: true, settings })
    expect(text).toMatch(/^channel main: disabled by tester@test since .*; every instance sees it within 15 seconds$/)
    const again = await run(channelDisable, 'main')
    expect(again.json).toEqual({ kind: 'channel', id: 'main', changed: false, settings })
    expect(again.text).toMatch(/; nothing had to change$/)
  })

  it.each([channelDisable, channelEnable, channelClear])(
    'refuse an unknown channel, with a suggestion (%#)',
    async (command) => {
      await expect(run(command, 'mian')).rejects.toThrow('no channel mian; did you mean main?')
      await expect(run(command, 'something-else')).rejects.toThrow('no channel something-else; `channel list` shows')
      expect(await switches()).toEqual({ channels: {}, models: {} })
    },
  )

  it('clear a channel that left the configuration, and set nothing for it', async () => {
    await run(channelDisable, 'main')
    deploy(testCatalogue({}, { main: { id: 'other' } }).config)
    await expect(run(channelEnable, 'main')).rejects.toThrow('no channel main')
    expect(await run(channelClear, 'main')).toMatchObject({ json: { changed: true, settings: [] } })
    expect((await switches()).channels).toEqual({})
  })

  it.each(['0', '-1', '1000.5', '1e3', 'half', ''])('refuse the weight %j', async (weight) => {
    await expect(run(channelWeightSet, 'main', weight)).rejects.toThrow(UsageError)
  })

  it.each(['-1', '1001', '0.5', 'first'])('refuse the priority %j', async (priority) => {
    await expect(run(channelPrioritySet, 'main', priority)).rejects.toThrow(UsageError)
  })

  it('warn of models that no enabled channel serves any more', async () => {
    await run(channelDisable, 'main')
    expect(warnings).toEqual([])
    await run(channelDisable, 'spare')
    expect(warnings).toEqual([`no enabled channel serves ${PER_SECOND_MODEL}, famA-2: video jobs wait`])
  })
})

describe('channel list', () => {
  const { run, deploy, table, warnings } = useSwitching()

  const RELAY_CHANNEL = {
    id: 'chat',
    provider: 'openai',
    base_url: 'http://127.0.0.1:9/v1',
    models: {},
  }

  /** The rows by id. */
  const rowsOf = ({ json }: { json: unknown }) =>
    new Map<string, Record<string, unknown>>(Object(json).channels.map((row: { id: string }) => [row.id, row] as const))

  describe('channel-list: of a local host', () => {
    const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'a secret of this start' }
    const NO_EXECUTIONS = { start: () => Promise.reject(), find: () => undefined, stop: () => false } as never
    let front: HttpServer
    const described = { channels: {} as Record<string, object>, credentials: {} }
    beforeEach(async () => {
      front = await startAwsFront(NO_EXECUTIONS, CREDENTIALS, () => described)
      Object.assign(process.env, {
        AWS_ENDPOINT_URL_SFN: `http://127.0.0.1:${front.port}`,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      })
    })
    afterEach(() => front.close())

    it('shows configuration, switches, open jobs, last minute and breaker of each channel', async () => {
      const { config } = testCatalogue()
      deploy({ ...config, channels: [...config.channels, { ...RELAY_CHANNEL }] } as never)
      const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
      const job = await reserveJob(table(), await openTenant(table()))
      await claimSubmit(table(), { job, channel, nowSeconds: 1 })
      await run(channelDisable, 'main')
      await run(channelWeightSet, 'spare', '0.5')
      described.channels = {
        main: {
          calls: 12,
          errors: { timeout: 1, http_5xx: 2 },
          p50Milliseconds: 40,
          p95Milliseconds: 300,
          breaker: null,
        },
        chat: { calls: 0, errors: {}, p50Milliseconds: null, p95Milliseconds: null, breaker: 'open' },
      }
      const answer = await run(channelList)
      const rows = rowsOf(answer)
      expect(rows.get('main')).toMatchObject({
        state: 'disabled',
        open_jobs: 1,
        open_jobs_max: 100,
        calls: 12,
        errors: { timeout: 1, http_5xx: 2 },
        p50_milliseconds: 40,
        p95_milliseconds: 300,
        breaker: null,
        settings: [{ setting: 'state', value: 'disabled', by: 'tester@test' }],
      })
      expect(rows.get('spare')).toMatchObject({
        weight: 0.5,
        configured_weight: 1,
        state: 'enabled',
        calls: 0,
        open_jobs: 0,
      })
      expect(rows.get('chat')).toMatchObject({ breaker: 'open', open_jobs: null, calls: 0 })
      expect(answer.text).toMatch(/main +p2 +disabled +0 +1 +1 of 100 +12 +3 \(2 http_5xx, 1 timeout\) +40 \/ 300 ms/)
      expect(answer.text).toContain('0.5 (configured 1)')
      expect(warnings).toEqual([])
    })

    it('shows a channel that left the configuration while it has switches', async () => {
      await run(channelPrioritySet, 'main', '7')
      deploy(testCatalogue({}, { main: { id: 'other' } }).config)
      expect(rowsOf(await run(channelList)).get('main')).toMatchObject({
        state: 'not configured',
        provider: null,
        settings: [{ setting: 'priority', value: 7 }],
      })
    })

    it('shows the switches although the host does not tell its figures', async () => {
      process.env.AWS_SECRET_ACCESS_KEY = 'another secret'
      const answer = await run(channelList)
      expect(warnings).toEqual([expect.stringContaining('errors and latency are not shown: the local host')])
      expect(rowsOf(answer).get('main')).toMatchObject({ state: 'enabled', calls: null, errors: null, breaker: null })
      expect(answer.text).toContain('no figures of the last minutes')
    })

    it('asks the host by an operation that only its own user may use', async () => {
      const response = await fetch(process.env.AWS_ENDPOINT_URL_SFN ?? '', {
        method: 'POST',
        headers: { 'x-amz-target': DESCRIBE_CHANNELS },
        body: '{}',
      })
      expect([response.status, await response.json()]).toMatchObject([400, { __type: 'AccessDeniedException' }])
    })
  })

  describe('channel-list: of a deployed stage', () => {
    const NOW = Date.UTC(2026, 10, 22, 12, 0, 30)
    const minutesAgo = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 12, 0) - minutes * 60_000)
    const cloudWatch = mockClient(CloudWatchClient)
    const cloudFormation = mockClient(CloudFormationClient)
    beforeEach(() => {
      cloudWatch.reset()
      cloudFormation.reset()
      jest.useFakeTimers({
        now: NOW,
        doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'performance'],
      })
      const TemplateBody = JSON.stringify({
        Metadata: { [CONFIGURATION_METADATA]: JSON.stringify(testCatalogue().config) },
      })
      cloudFormation.on(GetTemplateCommand, { StackName: 'Reelgate-prod' }).resolves({ TemplateBody })
    })
    afterEach(() => {
      jest.useRealTimers()
    })

    const list = () => {
      const warn = (sentence: string) => void warnings.push(sentence)
      return runCommand(channelList, { table: table(), stage: 'prod', outputs: { BaseUrl: 'https://x' }, warn })
    }

    /** Answers the queries of one channel; `tell` gets metric and statistic. */
    function publish(tell: (asked: string) => MetricDataResult | undefined): void {
      cloudWatch.on(GetMetricDataCommand).callsFake(({ MetricDataQueries = [] }: GetMetricDataCommandInput) => ({
        MetricDataResults: MetricDataQueries.flatMap(({ Id, MetricStat }) => {
          const channel = MetricStat?.Metric?.Dimensions?.find(({ Name }) => Name === 'channel')?.Value
          const result = channel === 'main' ? tell(`${MetricStat?.Metric?.MetricName} ${MetricStat?.Stat}`) : undefined
          return result === undefined ? [] : [{ Id, ...result }]
        }),
      }))
    }

    it('shows the newest minute of which CloudWatch has all figures', async () => {
      publish((asked) => {
        switch (asked) {
          case 'upstream_milliseconds SampleCount':
            return { Timestamps: [minutesAgo(1), minutesAgo(3), minutesAgo(4)], Values: [1, 20, 30] }
          case 'upstream_milliseconds p50':
            return { Timestamps: [minutesAgo(1), minutesAgo(3), minutesAgo(4)], Values: [9, 41.2, 50] }
          case 'upstream_milliseconds p95':
            return { Timestamps: [minutesAgo(3)], Values: [320.7] }
          case 'upstream_error TC(1.5:2.5)':
            return { Timestamps: [minutesAgo(3)], Values: [2] }
          default:
            return undefined
        }
      })
      const answer = await list()
      expect(Object(answer.json).minute_from).toBe(minutesAgo(3).toISOString())
      const rows = rowsOf(answer)
      expect(rows.get('main')).toMatchObject({
        calls: 20,
        errors: { timeout: 2 },
        p50_milliseconds: 41.2,
        p95_milliseconds: 320.7,
        breaker: null,
      })
      expect(rows.get('spare')).toMatchObject({ calls: 0, errors: {}, p50_milliseconds: null })
      expect(answer.text).toContain('41 / 321 ms')
    })

    it('asks for the namespace of the stage and the service', async () => {
      publish(() => undefined)
      await list()
      const [call] = cloudWatch.commandCalls(GetMetricDataCommand)
      const metrics = call?.args[0].input.MetricDataQueries?.map(({ MetricStat }) => MetricStat?.Metric) ?? []
      expect(metrics).toHaveLength(2 * 11 + 7)
      expect(new Set(metrics.map((metric) => metric?.Namespace))).toEqual(new Set(['Reelgate-prod']))
      expect(metrics[0]?.Dimensions).toEqual([
        { Name: 'service', Value: 'reelgate' },
        { Name: 'channel', Value: 'main' },
      ])
    })

    it('shows no figures where no channel was called', async () => {
      publish(() => undefined)
      const answer = await list()
      expect(Object(answer.json).minute_from).toBeNull()
      expect(rowsOf(answer).get('main')).toMatchObject({ calls: null, errors: null })
      expect(warnings).toEqual([])
    })

    it('shows the switches without the permission to read metrics', async () => {
      const refusal = Object.assign(new Error('no permission for cloudwatch:GetMetricData'), { name: 'AccessDenied' })
      cloudWatch.on(GetMetricDataCommand).rejects(refusal)
      await run(channelDisable, 'main')
      expect(rowsOf(await list()).get('main')).toMatchObject({ state: 'disabled' })
      expect(warnings).toEqual(['errors and latency are not shown: no permission for cloudwatch:GetMetricData'])
    })
  })
})
