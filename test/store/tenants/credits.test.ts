import { describe, expect, it } from '@jest/globals'
import { formatCredits, microcredits, parseCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { adjustTenant, grantTenant } from '#store/tenants/credits.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant } from '../../engines/audit.ts'
import { breakConnection, tableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { credits, openTenant, reserveJob, TESTER } from '../../engines/video-jobs.ts'

describe('grantTenant: a grant', () => {
  const { table } = useTestTable()

  const grant = (tenantId: string, id: string, amount: string) =>
    grantTenant(table, tenantId, { id, credits: credits(amount), actor: TESTER })

  it('adds to what is available and to what was granted', async () => {
    const { tenantId } = await openTenant(table, '5')
    await grant(tenantId, 'second', '0.25')
    expect((await getTenant(table, tenantId)).balance).toMatchObject({
      available: credits('5.25'),
      granted: credits('5.25'),
    })
  })

  it('repeated under one id, also at the same time, is one grant, and none of another amount', async () => {
    const { tenantId } = await openTenant(table, '5')
    await Promise.all([1, 2, 3].map(() => grant(tenantId, 'same', '1')))
    expect(await grant(tenantId, 'same', '1')).toMatchObject({ isNew: false })
    await expect(grant(tenantId, 'same', '2')).rejects.toMatchObject({ code: 'id_taken' })
    expect((await getTenant(table, tenantId)).balance.granted).toBe(credits('6'))
    expect(await auditTenant(table, tenantId)).toEqual([])
  })

  it('is recorded once under its id', async () => {
    const { tenantId } = await openTenant(table, '5')
    await Promise.all([1, 2, 3].map(() => grant(tenantId, 'bill', '1.5')))
    await expect(grant(tenantId, 'bill', '2')).rejects.toThrow('grant bill of tenant')
    const { entries } = await readAudit(table, { limit: 10, targets: [tenantId], actor: TESTER.name })
    expect(entries.filter(({ action }) => action === 'tenant grant')).toMatchObject([
      { kind: 'tenant', target: tenantId, before: null, after: { amount: '1.5', reference: 'bill' } },
    ])
  })
})

describe('adjustTenant: an adjustment', () => {
  const engine = useTestTable()
  const { table } = engine

  const signed = (text: string) =>
    text.startsWith('-') ? microcredits(-parseCredits(text.slice(1))) : parseCredits(text)
  const adjustment = (amount: string, changes: { id?: string; isDebtAllowed?: boolean } = {}) => ({
    amount: signed(amount),
    reason: 'granted twice',
    isDebtAllowed: false,
    actor: TESTER,
    ...changes,
  })
  async function money(tenantId: string): Promise<string[]> {
    const { balance } = await getTenant(table, tenantId)
    return [balance.available, balance.granted].map(formatCredits)
  }
  const entriesOf = async (tenantId: string) =>
    (await readAudit(table, { limit: 20, targets: [tenantId] })).entries.filter(
      ({ action }) => action === 'tenant adjust',
    )
  const inOrder = async (tenantId: string) => {
    expect(await auditTenant(table, tenantId)).toEqual([])
    expect(await verifyLedger(table, tenantId)).toEqual([])
  }

  it.each([
    ['-5', ['5', '5']],
    ['2.5', ['12.5', '12.5']],
    ['-10', ['0', '0']],
  ])('%s moves what is available and what was granted alike', async (amount, expected) => {
    const { tenantId } = await openTenant(table, '10')
    expect(await adjustTenant(table, tenantId, adjustment(amount))).toMatchObject({ isNew: true })
    expect(await money(tenantId)).toEqual(expected)
    await inOrder(tenantId)
  })

  it('is exact above what a number of JavaScript can hold', async () => {
    const { tenantId } = await openTenant(table, '1000000000')
    for (let index = 0; index < 9; index += 1) {
      await adjustTenant(table, tenantId, adjustment('1000000000'))
    }
    await adjustTenant(table, tenantId, adjustment('0.000001'))
    expect(await money(tenantId)).toEqual(['10000000000.000001', '10000000000.000001'])
    await adjustTenant(table, tenantId, adjustment('-0.000003'))
    expect(await money(tenantId)).toEqual(['9999999999.999998', '9999999999.999998'])
    await inOrder(tenantId)
  })

  it('takes no held credits, and nothing at all where too little is available', async () => {
    const tenant = await openTenant(table, '1')
    await reserveJob(table, tenant)
    const taken = adjustTenant(table, tenant.tenantId, adjustment('-0.5'))
    await expect(taken).rejects.toThrow('has 0.3 credits available: -0.5 would leave -0.2')
    await expect(taken).rejects.toMatchObject({ code: 'below_zero' })
    expect(await money(tenant.tenantId)).toEqual(['0.3', '1'])
    expect(await entriesOf(tenant.tenantId)).toEqual([])
    await inOrder(tenant.tenantId)
  })

  it('goes below zero where debt is allowed, and a later one upwards needs no permission', async () => {
    const { tenantId } = await openTenant(table, '1')
    await adjustTenant(table, tenantId, adjustment('-5', { isDebtAllowed: true }))
    expect(await money(tenantId)).toEqual(['-4', '-4'])
    await adjustTenant(table, tenantId, adjustment('1'))
    expect(await money(tenantId)).toEqual(['-3', '-3'])
    await inOrder(tenantId)
  })

  it('is one effect for each id, however often and wherever it is repeated, also where the rest could not pay for it again', async () => {
    const { tenantId } = await openTenant(table, '6')
    const repeated = () => adjustTenant(table, tenantId, adjustment('-5', { id: 'ticket-1' }))
    const first = await Promise.all(Array.from({ length: 8 }, repeated))
    expect(first.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(await repeated()).toMatchObject({ isNew: false })
    expect(await money(tenantId)).toEqual(['1', '1'])
    expect(await entriesOf(tenantId)).toHaveLength(1)
    await inOrder(tenantId)
  })

  it('with the id of another amount is refused', async () => {
    const { tenantId } = await openTenant(table, '6')
    await adjustTenant(table, tenantId, adjustment('-5', { id: 'ticket-1' }))
    await expect(adjustTenant(table, tenantId, adjustment('-1', { id: 'ticket-1' }))).rejects.toThrow(
      `adjustment ticket-1 of tenant ${tenantId} was made with -5 credits: use another id for another amount`,
    )
    expect(await money(tenantId)).toEqual(['1', '1'])
  })

  it('without an id is a new one each time', async () => {
    const { tenantId } = await openTenant(table, '6')
    await adjustTenant(table, tenantId, adjustment('-1'))
    await adjustTenant(table, tenantId, adjustment('-1'))
    expect(await money(tenantId)).toEqual(['4', '4'])
  })

  it('is recorded with the actor, the amount and the reason', async () => {
    const { tenantId } = await openTenant(table, '6')
    await adjustTenant(table, tenantId, adjustment('-1', { id: 'ticket-1' }))
    expect(await entriesOf(tenantId)).toMatchObject([
      { actor: TESTER.name, before: null, after: { amount: '-1', reference: 'ticket-1', reason: 'granted twice' } },
    ])
  })

  it.each(['reply_lost', 'request_lost'] as const)(
    'broken off is whole or nothing, and its repeat makes it whole: %s',
    async (kind) => {
      const { tenantId } = await openTenant(table, '6')
      const patient = tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })
      breakConnection(patient, 'adjust#', { kind, times: 8 })
      const given = adjustment('-5', { id: 'ticket-1' })
      await expect(adjustTenant(patient, tenantId, given)).rejects.toThrow()
      const isMade = (await entriesOf(tenantId)).length === 1
      expect(await money(tenantId)).toEqual(isMade ? ['1', '1'] : ['6', '6'])
      await inOrder(tenantId)
      await adjustTenant(table, tenantId, given)
      expect(await money(tenantId)).toEqual(['1', '1'])
      expect(await entriesOf(tenantId)).toHaveLength(1)
    },
  )

  it('of nobody is an error', async () => {
    for (const amount of ['-1', '1']) {
      await expect(adjustTenant(table, 'nobody', adjustment(amount))).rejects.toThrow('no tenant nobody')
    }
  })
})
