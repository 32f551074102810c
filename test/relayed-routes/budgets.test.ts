import { describe, expect, it } from '@jest/globals'
import { parseBudgetLimit } from '#core/budgets.ts'
import type { Operation } from '#routes/index.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { generateApiKey, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { keyBudgetOf, tenantBudgetOf } from '../engines/budgets.ts'
import { CHAT, chatAnswer, FREE, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { BILLED, errorIn, type RelayedRoute } from '../engines/relayed-samples.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }] }

const rig = useOpened(() => startRelayRig({ chat: { default_max_output_tokens: 20 } }))

function answer(status = 200): void {
  rig.upstreams[0]?.answerWith((response) =>
    sendJson(response, status === 200 ? chatAnswer() : { error: { message: 'no' } }, status),
  )
}

/** A tenant with 100 credits and a key with a budget. */
async function newKey(budget: string) {
  const { id: tenantId } = await rig.tenant('100')
  const key = generateApiKey()
  const budgetLimit = parseBudgetLimit(budget)
  const keyId = await storeApiKey(rig.table, { key, tenantId, models: null, budgetLimit }, TESTER)
  return { tenantId, key, keyId, budgetOf: async () => (await keyBudgetOf(rig.table, keyId))?.slice(1) }
}

/** Samples that cost more than a budget of 0.15 credits, by the limit of their output or by these fields. */
const LARGE: Readonly<Partial<Record<Operation, object>>> = {
  'create-embedding': { input: 'a'.repeat(300) },
  'create-image': { n: 10 },
}
const large = ({ operation, body }: RelayedRoute) => ({
  ...body,
  ...Object.fromEntries(Object.keys(body).flatMap((name) => (/^max_.*tokens$/.test(name) ? [[name, 1000]] : []))),
  ...LARGE[operation],
})

describe('a request above the budget of its key', () => {
  it.each(BILLED)(
    'to $operation is a 402 that says what is needed, left, until when, and what would fit',
    async (route) => {
      const { key, tenantId, budgetOf } = await newKey('0.15/day')
      const { statusCode, text } = await rig.send(large(route), { key, operation: route.operation })
      const message = expect.stringMatching(
        /^budget exceeded: [\d.]+ credits are needed, but 0\.15 are left in the daily budget that this api key uses until \S+T00:00:00Z; (set \w+ to at most \d+|send fewer or shorter inputs)$/,
      )
      expect([statusCode, JSON.parse(text)]).toEqual([
        402,
        errorIn(route, { message, type: 'insufficient_quota', param: null, code: 'budget_exceeded' }),
      ])
      expect(await budgetOf()).toEqual(['0', '0', '0.15', '0.15'])
      expect(await rig.balance(tenantId)).toEqual({ available: '100', held: '0', spent: '0' })
    },
  )

  it('passes with the advised limit', async () => {
    const { key, budgetOf } = await newKey('0.5/total')
    const { text } = await rig.send({ ...BODY, max_tokens: 1000 }, { key })
    const [, advised] = /set max_tokens to at most (\d+)/.exec(text) ?? []
    answer()
    expect((await rig.send({ ...BODY, max_tokens: Number(advised) }, { key })).statusCode).toBe(200)
    const [spent = '0', held, left] = (await budgetOf()) ?? []
    expect([Number(spent) > 0, held, Number(left)]).toEqual([true, '0', Number((0.5 - Number(spent)).toFixed(6))])
  })

  it('gets no advice when nothing is left', async () => {
    const { key } = await newKey('0/total')
    const { text } = await rig.send(BODY, { key })
    expect(JSON.parse(text).error.message).toMatch(/but 0 are left in the budget that this api key uses$/)
  })

  it('is served at once by a key that leaves a missing budget', async () => {
    const { key, keyId } = await newKey('5/month')
    answer()
    expect((await rig.send(BODY, { key })).statusCode).toBe(200)
    await rig.table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(keyId) } } })
    expect((await rig.send(BODY, { key })).statusCode).toBe(402)
    const settings = { budget: planKeyBudget(rig.table, null) }
    await setApiKey(rig.table, { keyId, settings, actor: TESTER })
    expect((await rig.send(BODY, { key })).statusCode).toBe(200)
  })

  it('is served by a model without a price', async () => {
    const { key } = await newKey('0/day')
    answer()
    expect((await rig.send({ ...BODY, model: FREE }, { key })).statusCode).toBe(200)
  })
})

describe('a request within its budgets', () => {
  it('frees what it held in both when it fails', async () => {
    const { key, tenantId, budgetOf } = await newKey('5/month')
    await changeTenant(rig.table, { tenantId, settings: { budget: parseBudgetLimit('5/day') }, actor: TESTER })
    answer(400)
    expect((await rig.send(BODY, { key })).statusCode).toBe(400)
    expect(await budgetOf()).toEqual(['0', '0', '5', '5'])
    expect((await tenantBudgetOf(rig.table, tenantId))?.slice(1)).toEqual(['0', '0', '5', '5'])
  })

  it('is refused by the budget of its tenant, which says so', async () => {
    const { key, tenantId, budgetOf } = await newKey('5/month')
    await changeTenant(rig.table, { tenantId, settings: { budget: parseBudgetLimit('0.01/total') }, actor: TESTER })
    const { statusCode, text } = await rig.send(BODY, { key })
    expect(statusCode).toBe(402)
    expect(JSON.parse(text).error).toMatchObject({
      code: 'budget_exceeded',
      message: expect.stringContaining(
        'but 0.01 are left in the budget of this tenant; no output tokens are affordable:',
      ),
    })
    expect(await budgetOf()).toEqual(['0', '0', '5', '5'])
  })
})
