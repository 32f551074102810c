import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { OpenAI } from 'openai'
import { parseBudgetLimit } from '#core/budgets.ts'
import {
  deliverAlerts,
  findAlerts,
  type OperatorMessage,
  openOperatorTopic,
} from '#lambdas/pipeline/reconcile/alerts.ts'
import { latestAlerts, putAlert } from '#store/alerts/alerts.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { setApiKey } from '#store/keys/key-changes.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { putKeyBudget, watchBalance } from '../../engines/budgets.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { startCallbackReceiver } from '../../engines/test-servers.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { settledJob, TESTER } from '../../engines/video-jobs.ts'

describe('findAlerts', () => {
  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  let tenantId: string
  beforeEach(async () => {
    engines.reset()
    pipeline = await engines.pipeline()
    tenantId = pipeline.tenant.tenantId
    pipeline.clock.milliseconds = Date.parse('2026-11-22T10:00:00Z')
  })

  const run = () => findAlerts(pipeline.context, () => true)
  const alerts = () => latestAlerts(pipeline.context.table, tenantId, 20)
  const spend = (spent: string, periodId = '2026-11-22') =>
    putKeyBudget(pipeline.context.table, tenantId, 'k1', { spent, periodId })

  it('returns the budgets of keys that are nearly spent, and none of a run without time', async () => {
    await spend('7.9')
    expect(await run()).toEqual([])
    await spend('8')
    expect(await run()).toEqual([{ tenantId, budgetId: 'k1', percent: 80 }])
    expect(await findAlerts(pipeline.context, () => false)).toBeUndefined()
  })

  it('records one alert for all thresholds that one run finds, and none again in the period', async () => {
    await spend('8.5')
    await run()
    await run()
    expect(await alerts()).toMatchObject([
      {
        type: 'budget.threshold',
        at: pipeline.clock.milliseconds,
        data: {
          tenant: tenantId,
          budget_of: 'key',
          key: 'k1',
          period: 'day',
          period_id: '2026-11-22',
          resets_at: Date.parse('2026-11-23T00:00:00Z') / 1000,
          amount: '10',
          spent: '8.5',
          threshold: 80,
          crossed: [50, 80],
        },
      },
    ])
    expect(engines.counted()).toEqual(['alert_raised'])
  })

  it('records each further threshold once, and begins again with the next period', async () => {
    await spend('5')
    await run()
    pipeline.clock.advance(60)
    await spend('10')
    await run()
    await run()
    expect((await alerts()).map(({ data }) => data.crossed)).toEqual([[80, 100], [50]])
    pipeline.clock.advance(86_400)
    await run()
    expect(await alerts()).toHaveLength(2)
    await spend('6', '2026-11-23')
    await run()
    expect((await alerts())[0]?.data).toMatchObject({ crossed: [50], period_id: '2026-11-23' })
  })

  it('records what was spent in the last moments of a period, with the first run after its end', async () => {
    pipeline.clock.milliseconds = Date.parse('2026-11-23T00:00:30Z')
    await spend('10')
    await run()
    await run()
    expect((await alerts()).map(({ data }) => data.period_id)).toEqual(['2026-11-22'])
  })

  it('records nothing for an earlier period after the next one was alerted, as an overlapping run would', async () => {
    pipeline.clock.milliseconds = Date.parse('2026-11-23T00:00:30Z')
    await spend('10', '2026-11-23')
    await run()
    await spend('10')
    await run()
    await spend('10', '2026-11-23')
    await run()
    expect((await alerts()).map(({ data }) => data.period_id)).toEqual(['2026-11-23'])
  })

  it.each(['key', 'tenant'])(
    'records nothing of a budget of a %s that got another kind of period while a run examined it',
    async (of) => {
      const { table } = pipeline.context
      const set = async (period: 'day' | 'total', periodId: string) => {
        const budget = { spent: '10', period, periodId }
        await (of === 'key' ? putKeyBudget(table, tenantId, 'k1', budget) : watchBalance(table, tenantId, { budget }))
      }
      await set('day', '2026-11-22')
      const transact: typeof table.transact = async (writes, options) => {
        await set('total', 'total')
        return await table.transact(writes, options)
      }
      await findAlerts({ ...pipeline.context, table: { ...table, transact } }, () => true)
      expect(await alerts()).toEqual([])
      await run()
      expect((await alerts()).map(({ data }) => data.period)).toEqual(['total'])
    },
  )

  it('records nothing twice when runs overlap', async () => {
    await spend('10')
    await Promise.all([run(), run(), run(), run()])
    expect(await alerts()).toHaveLength(1)
  })

  it('finds the budgets that commands have set, of a key and of a tenant, with what jobs have spent in them', async () => {
    const { table } = pipeline.context
    const now = Date.now()
    pipeline.clock.milliseconds = now
    const { keyDigest } = pipeline.tenant
    const keyId = keyDigest.slice(0, 8)
    const budget = planKeyBudget(table, parseBudgetLimit('1/total'))
    await setApiKey(table, { keyId, settings: { budget }, actor: TESTER })
    await changeTenant(table, { tenantId, settings: { budget: parseBudgetLimit('1/month') }, actor: TESTER })
    await run()
    expect(await alerts()).toEqual([])
    await settledJob(table, pipeline.tenant, {
      ...{ bill: '0.6', createdAt: Math.trunc(now / 1000), keyRevision: 1 },
      budget: { id: keyId, kind: 'total' },
    })
    await run()
    const found = (await alerts()).map(({ data: { budget_of, key, spent, crossed } }) => [
      budget_of,
      key,
      spent,
      crossed,
    ])
    expect(found.toSorted()).toEqual([
      ['key', keyId, '0.6', [50]],
      ['tenant', null, '0.6', [50]],
    ])
  })

  it('watches the budget of a tenant, by the thresholds of the tenant', async () => {
    const { table } = pipeline.context
    await watchBalance(table, tenantId, { budget: { spent: '8.5', period: 'total', periodId: 'total' } })
    await table.updateItem({
      Key: tableKeys.tenant(tenantId),
      UpdateExpression: 'SET alertAt = :at',
      ExpressionAttributeValues: { ':at': [85, 90] },
    })
    await run()
    expect((await alerts()).map(({ data }) => data)).toEqual([
      expect.objectContaining({ budget_of: 'tenant', key: null, resets_at: null, crossed: [85], threshold: 85 }),
    ])
  })

  it('tells of a low balance once, and again only after the balance has been above its mark', async () => {
    const { table } = pipeline.context
    for (const available of ['4.999999', '3', '5', '4', '3']) {
      pipeline.clock.advance(60)
      await watchBalance(table, tenantId, { lowBalance: '5', available })
      await run()
    }
    expect((await alerts()).map(({ type, data }) => [type, data])).toEqual([
      ['balance.low', { tenant: tenantId, available: '4', threshold: '5' }],
      ['balance.low', { tenant: tenantId, available: '4.999999', threshold: '5' }],
    ])
  })

  it('tells nothing of a balance for reservations that come and go, however often they take all that is available', async () => {
    const { table } = pipeline.context
    for (const [available, held] of [
      ['0', '6'],
      ['6', '0'],
      ['1', '5'],
      ['6', '0'],
      ['0', '4'],
      ['4', '0'],
    ] as const) {
      await watchBalance(table, tenantId, { lowBalance: '5', available, held })
      await run()
    }
    expect((await alerts()).map(({ data }) => data)).toEqual([{ tenant: tenantId, available: '0', threshold: '5' }])
  })

  it('goes on with the others when one item cannot be examined', async () => {
    const { table } = pipeline.context
    await table.updateItem({
      Key: tableKeys.alertMark(tenantId, 'key#k0'),
      UpdateExpression: 'SET version = :odd',
      ExpressionAttributeValues: { ':odd': 'odd' },
    })
    await putKeyBudget(table, tenantId, 'k0', { spent: '9', periodId: '2026-11-22' })
    await putKeyBudget(table, tenantId, 'j0', { spent: '9', periodId: '2026-11-22' })
    await table.updateItem({ Key: tableKeys.keyBudget('j0'), UpdateExpression: 'REMOVE periodId' })
    await spend('9')
    await run()
    expect((await alerts()).map(({ data }) => data.key)).toEqual(['k1'])
    expect(engines.counted()).toContain('reconcile_failed')
  })
})

describe('deliverAlerts', () => {
  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
  let published: OperatorMessage[]
  let statuses: number[]
  let isTopicBroken: boolean
  beforeEach(async () => {
    engines.reset()
    statuses = []
    receiver = await startCallbackReceiver(() => statuses.shift() ?? 200)
    pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
    published = []
    isTopicBroken = false
    const { tenantId } = pipeline.tenant
    const at = pipeline.clock.milliseconds
    const data = { tenant: tenantId, available: '4', threshold: '5' }
    await pipeline.context.table.transact({ alert: putAlert({ tenantId, type: 'balance.low', at, data }) })
  })
  afterEach(() => receiver.stop())

  const setUrl = (url: string) =>
    pipeline.context.table.updateItem({
      Key: tableKeys.tenant(pipeline.tenant.tenantId),
      UpdateExpression: 'SET alertUrl = :url',
      ExpressionAttributeValues: { ':url': url },
    })

  async function publishToOperators(message: OperatorMessage): Promise<void> {
    if (isTopicBroken) {
      throw new Error('the topic is broken')
    }
    published.push(message)
  }

  /** One run, some seconds after the last one. */
  async function runAfter(seconds: number, topic: typeof publishToOperators | null = publishToOperators) {
    pipeline.clock.advance(seconds)
    await deliverAlerts({ ...pipeline.context, publishToOperators: topic ?? undefined }, () => true)
  }

  const alert = async () => (await latestAlerts(pipeline.context.table, pipeline.tenant.tenantId, 1))[0]

  /** The first update is the claim. */
  function dieAtSecond<Update extends (...args: never[]) => Promise<unknown>>(update: Update): Update {
    let calls = 0
    const dying = (...args: Parameters<Update>) => {
      calls += 1
      return calls === 2 ? Promise.reject(new Error('the process died')) : update(...args)
    }
    return dying as Update
  }

  it('delivers to the topic and to the url of the tenant, signed, under one id', async () => {
    await setUrl(receiver.url)
    await runAfter(0)
    await runAfter(3600)
    const [message, ...others] = receiver.received
    expect(others).toEqual([])
    const id = message?.headers['webhook-id']
    expect(published).toEqual([
      { id, subject: `Reelgate: balance of ${pipeline.tenant.tenantId} is 4`, body: message?.body },
    ])
    const { webhooks } = new OpenAI({ apiKey: 'none', webhookSecret: pipeline.tenant.webhookSecret })
    const headers = Object.entries(message?.headers ?? {}).map(([name, value]) => [name, String(value)])
    expect(await webhooks.unwrap(String(message?.body), Object.fromEntries(headers))).toEqual({
      type: 'balance.low',
      timestamp: expect.any(Number),
      data: { tenant: pipeline.tenant.tenantId, available: '4', threshold: '5' },
    })
    expect(await alert()).toMatchObject({ id, operators: 'delivered', tenant: 'delivered' })
  })

  it('tries three times with growing pauses, repeats only what failed, and counts the alert that stays undelivered', async () => {
    await setUrl(receiver.url)
    statuses = [500, 500, 500]
    await runAfter(0)
    await runAfter(39)
    expect(receiver.received).toHaveLength(1)
    await runAfter(21)
    await runAfter(279)
    expect(receiver.received).toHaveLength(2)
    await runAfter(21)
    await runAfter(86_400)
    expect(receiver.received).toHaveLength(3)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(published).toHaveLength(1)
    expect(engines.counted()).toEqual(['alert_undelivered'])
    expect(await alert()).toMatchObject({ operators: 'delivered', tenant: 'failed', tries: 3 })
  })

  it('tries a topic that fails again, and sends the tenant no second message', async () => {
    await setUrl(receiver.url)
    isTopicBroken = true
    await runAfter(0)
    isTopicBroken = false
    await runAfter(60)
    expect(published).toHaveLength(1)
    expect(receiver.received).toHaveLength(1)
    expect(engines.counted()).toEqual([])
  })

  it('tries three times for a tenant that cannot be read, and sends the operators one message', async () => {
    await setUrl(receiver.url)
    await pipeline.context.table.updateItem({
      Key: tableKeys.tenant(pipeline.tenant.tenantId),
      UpdateExpression: 'REMOVE webhookSecret',
    })
    for (const seconds of [0, 60, 300, 86_400]) {
      await runAfter(seconds)
    }
    expect(published).toHaveLength(1)
    expect(await alert()).toMatchObject({ operators: 'delivered', tenant: 'failed', tries: 3 })
    expect(engines.counted()).toEqual(['alert_undelivered'])
  })

  it('leaves the alert due, under the same id, when its process dies after a delivery and before its record', async () => {
    await setUrl(receiver.url)
    const { table } = pipeline.context
    const died = { ...table, updateItem: dieAtSecond(table.updateItem) }
    await deliverAlerts({ ...pipeline.context, table: died, publishToOperators }, () => true)
    await runAfter(50)
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
      (await alert())?.id,
      (await alert())?.id,
    ])
    expect(await alert()).toMatchObject({ operators: 'delivered', tenant: 'delivered' })
  })

  it('delivers once in overlapping runs', async () => {
    await setUrl(receiver.url)
    await Promise.all([runAfter(0), runAfter(0), runAfter(0)])
    expect(receiver.received).toHaveLength(1)
    expect(published).toHaveLength(1)
  })

  it('has no receiver for a tenant without a url and a stage without a topic, and tries nothing again', async () => {
    await runAfter(0, null)
    expect(await alert()).toMatchObject({ operators: 'unwanted', tenant: 'unwanted', tries: 0 })
    await setUrl(receiver.url)
    await runAfter(3600)
    expect(receiver.received).toEqual([])
  })

  it('needs the url of the tenant on the allowlist when the alert is sent', async () => {
    await setUrl('https://elsewhere.example/hook')
    await runAfter(0)
    expect(await alert()).toMatchObject({ operators: 'delivered', tenant: 'due', tries: 1 })
  })
})

describe('openOperatorTopic', () => {
  const sns = mockClient(SNSClient)
  afterEach(() => {
    sns.reset()
  })

  const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:alarms'

  it('publishes a message with its id as an attribute, and a subject that SNS takes', async () => {
    sns.on(PublishCommand).resolves({ MessageId: 'm1' })
    await openOperatorTopic(TOPIC)?.({ id: 'evt_1', subject: `Ümlaut\n${'x'.repeat(200)}`, body: '{}' })
    expect(sns.commandCalls(PublishCommand).map(({ args }) => args[0].input)).toEqual([
      {
        TopicArn: TOPIC,
        Subject: `?mlaut?${'x'.repeat(93)}`,
        Message: '{}',
        MessageAttributes: { 'webhook-id': { DataType: 'String', StringValue: 'evt_1' } },
      },
    ])
  })

  it('throws when the topic refuses, so that the alert is tried again', async () => {
    sns.on(PublishCommand).rejects(new Error('no'))
    await expect(openOperatorTopic(TOPIC)?.({ id: 'evt_1', subject: 's', body: '{}' })).rejects.toThrow('no')
  })

  it('is undefined where a stage has no topic', () => {
    expect(openOperatorTopic('')).toBeUndefined()
    expect(openOperatorTopic(undefined)).toBeUndefined()
  })
})
