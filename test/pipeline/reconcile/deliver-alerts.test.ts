import { OpenAI } from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deliverAlerts } from '#lambdas/pipeline/reconcile/deliver-alerts.ts'
import type { OperatorMessage } from '#lambdas/pipeline/reconcile/operator-topic.ts'
import { latestAlerts, putAlert } from '#store/alerts/alerts.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { startCallbackReceiver } from '../../engines/test-servers.ts'
import { useOpened } from '../../engines/use-opened.ts'

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

describe('deliver-alerts', () => {
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
    await runAfter(59)
    expect(receiver.received).toHaveLength(1)
    await runAfter(1)
    await runAfter(299)
    expect(receiver.received).toHaveLength(2)
    await runAfter(1)
    await runAfter(86_400)
    expect(receiver.received).toHaveLength(3)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(published).toHaveLength(1)
    expect(engines.counted()).toEqual(['alert_undelivered'])
    expect(await alert()).toMatchObject({ operators: 'delivered', tenant: 'failed', tries: 3 })
  })

  it('a topic that fails is tried again, and the tenant gets no second message', async () => {
    await setUrl(receiver.url)
    isTopicBroken = true
    await runAfter(0)
    isTopicBroken = false
    await runAfter(60)
    expect(published).toHaveLength(1)
    expect(receiver.received).toHaveLength(1)
    expect(engines.counted()).toEqual([])
  })

  it('a tenant that cannot be read costs three tries, and the operators get one message', async () => {
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

  it('a process that dies after a delivery and before its record leaves the alert due, under the same id', async () => {
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

  it('overlapping runs deliver once', async () => {
    await setUrl(receiver.url)
    await Promise.all([runAfter(0), runAfter(0), runAfter(0)])
    expect(receiver.received).toHaveLength(1)
    expect(published).toHaveLength(1)
  })

  it('a tenant without a url and a stage without a topic have no receiver, and nothing is tried again', async () => {
    await runAfter(0, null)
    expect(await alert()).toMatchObject({ operators: 'unwanted', tenant: 'unwanted', tries: 0 })
    await setUrl(receiver.url)
    await runAfter(3600)
    expect(receiver.received).toEqual([])
  })

  it('the url of the tenant has to be on the allowlist when the alert is sent', async () => {
    await setUrl('https://elsewhere.example/hook')
    await runAfter(0)
    expect(await alert()).toMatchObject({ operators: 'delivered', tenant: 'due', tries: 1 })
  })
})

/** The first update is the claim. */
function dieAtSecond<Update extends (...args: never[]) => Promise<unknown>>(update: Update): Update {
  let calls = 0
  const dying = (...args: Parameters<Update>) => {
    calls += 1
    return calls === 2 ? Promise.reject(new Error('the process died')) : update(...args)
  }
  return dying as Update
}
