import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { useOpened } from '../engines/use-opened.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually, type Received, startReceiver, VideoApi } from './video-client.ts'

type Tenant = { readonly id: string; readonly keys: readonly { readonly id: string; readonly key: string }[] }
type Row = Readonly<Record<string, unknown>>

const VIDEO = { model: 'famB-1.1-t2v', prompt: 'a boat', duration: 5, resolution: '720P' }
const MILLIONTHS = 1_000_000
/** Stands for a price that the client of a broken response could not see. */
const CUT = -1

const receiver = useOpened(startReceiver)
let gateway: Gateway
let acme: Tenant
let solo: Tenant
beforeAll(async () => {
  gateway = await startGateway({
    callbackOrigins: [receiver.origin],
    changeConfig: (yaml) => yaml.replace('breaker: { failures: 5', 'breaker: { failures: 1000'),
  })
  acme = await openTenant('Acme', 2)
  solo = await openTenant('Solo', 1)
})
afterAll(async () => {
  await gateway.stop()
})

const admin = async (...command: string[]) => Object(await gateway.admin(...command))

async function openTenant(name: string, keyCount: number): Promise<Tenant> {
  const { id } = await admin('tenant', 'create', '--name', name, '--credits', '1000', '--open-jobs', 'none')
  const keys: { id: string; key: string }[] = []
  for (let index = 0; index < keyCount; index += 1) {
    const { key, id: keyId } = await admin('key', 'create', '--tenant', id, '--rate', 'none')
    keys.push({ id: keyId, key })
  }
  return { id, keys }
}

function sdkOf(key: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
}

const asMillionths = (credits: unknown) => Math.round(Number(credits) * MILLIONTHS)
const chat = (content: string) => ({
  model: 'chat-default',
  messages: [{ role: 'user' as const, content }],
  max_tokens: 50,
})

/** What the client of one request saw as its price, in millionths of a credit; undefined if it saw none. */
type Spend = (client: OpenAI, index: number) => Promise<number | undefined>

const whole: Spend = async (client, index) => {
  const { data, response } = await client.chat.completions
    .create(chat(`question ${index} [usage-details]`))
    .withResponse()
  const cost = asMillionths(Object(data.usage).cost)
  expect(asMillionths(response.headers.get('x-reelgate-cost'))).toBe(cost)
  expect(data.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0)
  return cost
}

const streamed: Spend = async (client, index) => {
  const stream = await client.chat.completions.create({
    ...chat(`stream ${index}`),
    stream: true,
    stream_options: { include_usage: true },
  })
  let cost: number | undefined
  for await (const { usage } of stream) {
    cost = usage == null ? cost : asMillionths(Object(usage).cost)
  }
  return cost
}

const embedded: Spend = async (client, index) => {
  const { response } = await client.embeddings
    .create({ model: 'text-embedding-3-small', input: `text ${index}` })
    .withResponse()
  return asMillionths(response.headers.get('x-reelgate-cost'))
}

const failed: Spend = async (client, index) => {
  await expect(client.chat.completions.create(chat(`failing ${index} [error:500]`))).rejects.toThrow()
  return 0
}

const cut: Spend = async (client, index) => {
  const stream = await client.chat.completions.create({ ...chat(`cut ${index} [cut:3]`), stream: true })
  const read = async () => {
    for await (const _ of stream) {
      // Read until the stream breaks.
    }
  }
  await expect(read()).rejects.toThrow()
  return undefined
}

const KINDS: readonly Spend[] = [whole, streamed, embedded, failed, cut]

/** Nothing is held when every settlement has been written. */
const settled = (tenant: string) =>
  eventually(
    () => admin('tenant', 'show', '--tenant', tenant),
    ({ held }) => held === '0',
  )

/** The settlements of `ledger export`, by the names of its columns. */
function exportSettlements(): Row[] {
  const { stdout } = spawnSync(
    process.execPath,
    [
      '--import',
      './bin/require-node.mjs',
      'bin/admin.ts',
      'ledger',
      'export',
      '--all',
      '--json',
      '--local',
      '--data-dir',
      gateway.dataDirectory,
    ],
    { cwd: REPOSITORY, env: withoutRunner(), encoding: 'utf8' },
  )
  const rows: Row[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return rows.filter(({ kind }) => kind === 'settle')
}

const sum = (amounts: readonly unknown[]) => amounts.reduce<number>((total, amount) => total + asMillionths(amount), 0)

describe('who spent what', () => {
  it('is the same in usage, export, receipts and the prices on 200 mixed responses and ten videos', async () => {
    const callers = [...acme.keys, ...solo.keys]
    const callerOf = (index: number) => callers[index % callers.length] ?? { id: '', key: '' }
    const requests = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const { id, key } = callerOf(index)
        return { key: id, price: await KINDS[index % KINDS.length]?.(sdkOf(key), index) }
      }),
    )
    const receipts = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const { id: key, key: secret } = callerOf(index)
        const api = new VideoApi(gateway.url, secret)
        const { json } = await api.create({ ...VIDEO, prompt: index === 7 ? '[fail] a boat' : `boat ${index}` })
        await api.until(String(json.id), 'succeeded', 'failed')
        const { cost, ledger } = (await api.send('GET', `/v1/video/generations/${json.id}/receipt`)).json
        return { key, cost, kinds: Object(ledger).map(({ kind }: Row) => kind) }
      }),
    )
    expect(receipts.filter(({ kinds }) => kinds.includes('settle'))).toHaveLength(9)
    await Promise.all([settled(acme.id), settled(solo.id)])

    const rows = exportSettlements()
    for (const { id, keys } of [acme, solo]) {
      const { total } = Object((await new VideoApi(gateway.url, keys[0]?.key).send('GET', '/v1/usage')).json)
      const { spent } = await admin('tenant', 'show', '--tenant', id)
      const own = rows.filter(({ tenant }) => tenant === id)
      expect([total.requests, total.cost]).toEqual([own.length, spent])
      expect(sum(own.map(({ actual }) => actual))).toBe(asMillionths(spent))
    }
    const { rows: used } = await admin('usage', '--by', 'key,operation')
    for (const { id } of callers) {
      const own = rows.filter(({ key }) => key === id)
      const videos = own.filter(({ operation }) => operation === 'create-video-job')
      const relayed = own
        .filter(({ operation }) => operation !== 'create-video-job')
        .map(({ actual }) => asMillionths(actual))
      const shown: Row[] = used.filter(({ key }: Row) => key === id)
      expect(sum(shown.map(({ cost }) => cost))).toBe(sum(own.map(({ actual }) => actual)))
      expect(sum(videos.map(({ actual }) => actual))).toBe(
        sum(receipts.filter(({ key }) => key === id).map(({ cost }) => cost)),
      )
      const prices = requests.filter(({ key }) => key === id).flatMap(({ price }) => price ?? CUT)
      // Whoever was cut off saw no price; the ledger has one.
      expect(relayed).toHaveLength(prices.filter((price) => price !== 0).length)
      expect(relayed).toEqual(expect.arrayContaining(prices.filter((price) => price > 0)))
    }
    expect(await admin('ledger', 'verify')).toMatchObject({ ok: true })
  })

  it('reaches who watches a budget in one alert, and the audit log says who set the budget', async () => {
    const [watched] = solo.keys
    await admin('tenant', 'alerts', '--tenant', 'Solo', '--url', `${receiver.origin}/alerts`, '--thresholds', '1')
    await admin('key', 'set', '--key', watched?.id ?? '', '--budget', '5/day')
    // A host that starts reconciles at once.
    await gateway.stop()
    const { dataDirectory, configFile } = gateway
    gateway = await startGateway({ dataDirectory, configFile })
    const alerts = () => receiver.received.filter(({ body }: Received) => body.includes('budget.threshold'))
    await eventually(
      async () => alerts().length,
      (count) => count > 0,
    )
    expect(alerts().map(({ body }) => JSON.parse(body).data)).toEqual([
      expect.objectContaining({ key: watched?.id, tenant: solo.id, crossed: [1] }),
    ])
    const { entries } = await admin('audit', '--target', watched?.id ?? '')
    expect(entries[0]).toMatchObject({ action: 'key set', actor: expect.stringContaining('@') })
  })
})
