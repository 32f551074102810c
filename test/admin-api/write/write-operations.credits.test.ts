import { describe, expect, it } from 'vitest'
import { formatCredits } from '#core/money.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { startWriteRig, type WriteRig } from './write-rig.ts'

const rig = useOpened(startWriteRig)

const available = async (tenantId: string) => formatCredits((await getTenant(rig.table, tenantId)).balance.available)
const call = (...arguments_: Parameters<WriteRig['call']>) => rig.call(...arguments_)

describe('grant-credits', () => {
  it('grant-credits 200: moves credits once for its id, however often it is sent, even at once', async () => {
    const { tenantId } = await openTenant(rig.table, '1')
    const send = () =>
      call('POST', `/tenants/${tenantId}/grants`, { body: { credits: '0.25', id: 'invoice-1', note: 'paid' } })
    const responses = await Promise.all(Array.from({ length: 4 }, send))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(responses.filter(({ body }) => !body.repeated)).toHaveLength(1)
    expect(responses[0]?.body).toMatchObject({ object: 'grant', id: 'invoice-1', credits: '0.25' })
    expect(await available(tenantId)).toBe('1.25')
    const grants = (await rig.audit(tenantId)).filter(({ action }) => action === 'tenant grant')
    expect(grants).toMatchObject([{ actor: 'ada@host', role: 'owner', after: { amount: '0.25', reason: 'paid' } }])
  })

  it('grant-credits 409: an id that was used for another amount', async () => {
    const { tenantId } = await openTenant(rig.table, '1')
    const send = (credits: string) => call('POST', `/tenants/${tenantId}/grants`, { body: { credits, id: 'a' } })
    await send('1')
    expect(await send('2')).toMatchObject({ status: 409, body: { error: { code: 'id_taken', param: 'id' } } })
    expect(await available(tenantId)).toBe('2')
  })

  it.each([
    ['no id: a retry would move money twice', { credits: '1' }, 'id'],
    ['an id for another row of the ledger', { credits: '1', id: 'a#2' }, 'id'],
    ['nothing', { credits: '0', id: 'a' }, 'credits'],
    ['a negative amount', { credits: '-1', id: 'a' }, 'credits'],
    ['too many places', { credits: '0.0000001', id: 'a' }, 'credits'],
    ['an exponent', { credits: '1e3', id: 'a' }, 'credits'],
    ['more than the largest amount', { credits: '1000000001', id: 'a' }, 'credits'],
    ['a very long amount', { credits: '9'.repeat(50_000), id: 'a' }, 'credits'],
    ['a number', { credits: 1, id: 'a' }, 'credits'],
  ])('grant-credits 400: %s', async (_, body, param) => {
    const { tenantId } = await openTenant(rig.table, '1')
    const refused = await call('POST', `/tenants/${tenantId}/grants`, { body })
    expect(refused).toMatchObject({ status: 400, body: { error: { param } } })
    expect(refused.body.error.message.length).toBeLessThan(300)
    expect(await available(tenantId)).toBe('1')
  })
})

describe('adjust-credits', () => {
  const adjust = (tenantId: string, body: object) => call('POST', `/tenants/${tenantId}/adjustments`, { body })

  it('adjust-credits 200: moves credits once for its id, and says why in the log', async () => {
    const { tenantId } = await openTenant(rig.table, '10')
    const body = { amount: '-2.5', reason: 'granted twice', id: 'ticket-7' }
    expect(await adjust(tenantId, body)).toMatchObject({ status: 200, body: { amount: '-2.5', repeated: false } })
    expect(await adjust(tenantId, body)).toMatchObject({ status: 200, body: { repeated: true } })
    expect(await available(tenantId)).toBe('7.5')
    expect(await rig.audit(tenantId)).toMatchObject([
      { action: 'tenant adjust', after: { amount: '-2.5', reason: 'granted twice' } },
      { action: 'key create' },
      { action: 'tenant create' },
    ])
  })

  it('adjust-credits 409: below zero, unless debt is allowed', async () => {
    const { tenantId } = await openTenant(rig.table, '1')
    const body = { amount: '-2', reason: 'chargeback', id: 'a' }
    const refused = await adjust(tenantId, body)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'below_zero', param: 'allow_debt' } } })
    expect(refused.body.error.message).toContain('`allow_debt` permits this')
    expect(await adjust(tenantId, { ...body, allow_debt: true })).toMatchObject({ status: 200 })
    expect(await available(tenantId)).toBe('-1')
  })

  it('two owners at once take no more than there is, and a taken id is told', async () => {
    const { tenantId } = await openTenant(rig.table, '1')
    const send = (id: string, amount = '-0.7') => adjust(tenantId, { amount, reason: 'race', id })
    const statuses = (await Promise.all([send('a'), send('b'), send('c')])).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 409, 409])
    expect(await available(tenantId)).toBe('0.3')
    const [taken] = (await rig.audit(tenantId)).flatMap(({ after }) =>
      after?.reference ? [String(after.reference)] : [],
    )
    expect(await send(taken ?? '', '0.1')).toMatchObject({ status: 409, body: { error: { code: 'id_taken' } } })
  })

  it.each([
    ['zero', { amount: '0', reason: 'a', id: 'a' }, 'amount'],
    ['no reason', { amount: '1', id: 'a' }, 'reason'],
    ['a reason of two lines', { amount: '1', reason: 'a\nb', id: 'a' }, 'reason'],
    ['no id', { amount: '1', reason: 'a' }, 'id'],
    ['a string as a switch', { amount: '1', reason: 'a', id: 'a', allow_debt: 'true' }, 'allow_debt'],
  ])('adjust-credits 400: %s', async (_, body, param) => {
    const { tenantId } = await openTenant(rig.table, '1')
    expect(await adjust(tenantId, body)).toMatchObject({ status: 400, body: { error: { param } } })
    expect(await available(tenantId)).toBe('1')
  })
})
