import { beforeAll, describe, expect, it } from '@jest/globals'
import { limitsOf } from '#core/identity.ts'
import { parseCredits } from '#core/money.ts'
import { subjectDigest } from '#core/refused-key.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { planKeyBudget, readBudgetOfKey } from '#store/key-budgets.ts'
import { getApiKey, listApiKeys } from '#store/keys/api-keys.ts'
import { setApiKey } from '#store/keys/key-changes.ts'
import { restoreSubjectKey, revokeApiKey } from '#store/keys/revocation.ts'
import { admitSubject, foreseeSubject, subjectKeyId } from '#store/keys/subject-keys.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { tableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { stirConflicts } from '../../faults/faulty-table.ts'

const RULE = { name: 'ci', when: { sub: '*' }, tenant: 'acme', rate: 60, models: ['chat', 'image'], budget: '5/day' }

function subjectOf(name: string, rule: Partial<typeof RULE> & { readonly budget_of_all?: string } = {}) {
  const limits = limitsOf({ ...RULE, ...rule })
  const digest = subjectDigest(sha256Hex(name))
  return { digest, issuer: 'https://issuer.example.com', subject: name, tenantId: 'acme', limits }
}

const listingOf = (name: string) => subjectKeyId(subjectOf(name).digest)

describe('admitSubject', () => {
  const engine = useTestTable()
  const { table } = engine
  const now = Date.now()
  beforeAll(async () => {
    await makeTenant(table, { id: 'acme', name: 'Acme', credits: parseCredits('10') }, TESTER)
  })

  it('makes one key for a hundred first requests at once, with the budget of its rule', async () => {
    await Promise.all(Array.from({ length: 100 }, () => admitSubject(table, subjectOf('many'), now)))
    const keys = (await listApiKeys(table)).filter(({ name }) => name === 'many')
    expect(keys).toMatchObject([{ tenantId: 'acme', state: 'active', models: ['chat', 'image'], ratePerMinute: 60 }])
    const budget = await readBudgetOfKey(table, keys[0]?.budget ?? { id: '', kind: 'day' })
    expect(budget).toMatchObject({ amount: parseCredits('5'), spent: 0n })
    const { entries } = await readAudit(table, { limit: 5, targets: [listingOf('many')] })
    expect(entries).toMatchObject([{ action: 'key create', after: { rule: 'ci', rate: 60, budget: '5/day' } }])
  })

  it('makes a key while the balance of its tenant is written all the time', async () => {
    const busy = tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })
    let conflicts = 0
    stirConflicts(busy, () => {
      conflicts += 1
      return conflicts <= 20
    })
    await admitSubject(busy, subjectOf('busy'), now)
    expect((await getApiKey(table, listingOf('busy'))).listing).toMatchObject({ state: 'active' })
  })

  it('keeps a revoked key revoked', async () => {
    await admitSubject(table, subjectOf('gone'), now)
    await revokeApiKey(table, listingOf('gone'), TESTER)
    await admitSubject(table, subjectOf('gone', { rate: 5 }), now + 60_000)
    expect((await getApiKey(table, listingOf('gone'))).listing).toMatchObject({ state: 'revoked', ratePerMinute: 60 })
  })

  const DAY = 86_400_000
  const ttlOf = async (name: string) => {
    const { digest } = subjectOf(name)
    const items = await Promise.all([
      table.readItem(tableKeys.apiKey(digest)),
      table.readItem(tableKeys.apiKeyListing(listingOf(name))),
    ])
    return items.map((item) => item?.ttl)
  }

  it('keeps a subject for ninety days after a call, which it writes once a day', async () => {
    await admitSubject(table, subjectOf('kept'), now)
    const first = Math.floor(now / 1000) + 90 * 86_400
    await admitSubject(table, subjectOf('kept'), now + DAY / 2)
    expect(await ttlOf('kept')).toEqual([first, first])
    await admitSubject(table, subjectOf('kept'), now + 2 * DAY)
    expect(await ttlOf('kept')).toEqual([first + 2 * 86_400, first + 2 * 86_400])
  })

  it('makes the key of a forgotten subject anew, whatever of it the table has deleted, with the budget as it was', async () => {
    const later = now + 91 * DAY
    for (const deleted of ['nothing', 'apiKey', 'apiKeyListing'] as const) {
      const subject = subjectOf(`forgotten ${deleted}`, { budget: '5/total' })
      const keyId = subjectKeyId(subject.digest)
      await admitSubject(table, subject, now)
      const settings = { ratePerMinute: 20, budget: planKeyBudget(table, { amount: parseCredits('1'), kind: 'total' }) }
      await setApiKey(table, { keyId, settings, actor: TESTER })
      if (deleted !== 'nothing') {
        await table.transact({
          gone: { Delete: { Key: tableKeys[deleted](deleted === 'apiKey' ? subject.digest : keyId) } },
        })
      }
      await admitSubject(table, subject, later)
      const { listing } = await getApiKey(table, keyId)
      expect(listing).toMatchObject({ state: 'active', ratePerMinute: 60 })
      expect(await readBudgetOfKey(table, listing.budget ?? { id: '', kind: 'day' })).toMatchObject({ spent: 0n })
      expect(await ttlOf(subject.subject)).toEqual(Array(2).fill(Math.floor(later / 1000) + 90 * 86_400))
    }
  })

  it('never forgets a revoked subject, and keeps a restored one for ninety days', async () => {
    await admitSubject(table, subjectOf('restored'), now)
    await revokeApiKey(table, listingOf('restored'), TESTER)
    expect(await ttlOf('restored')).toEqual([undefined, undefined])
    await admitSubject(table, subjectOf('restored'), now + 91 * DAY)
    expect(await ttlOf('restored')).toEqual([undefined, undefined])
    await restoreSubjectKey(table, listingOf('restored'), TESTER)
    expect(await ttlOf('restored')).toEqual(Array(2).fill(expect.any(Number)))
  })

  it('applies a changed rule, but not twice within half a minute, and keeps what an operator lowered', async () => {
    await admitSubject(table, subjectOf('changed'), now)
    await setApiKey(table, { keyId: listingOf('changed'), settings: { models: ['chat'] }, actor: TESTER })
    const wider = subjectOf('changed', { models: ['chat', 'image', 'video'], rate: 30, budget: '7/day' })
    await admitSubject(table, wider, now + 1_000)
    expect((await getApiKey(table, listingOf('changed'))).listing.ratePerMinute).toBe(60)
    await admitSubject(table, wider, now + 60_000)
    const { models, ratePerMinute, budget } = (await getApiKey(table, listingOf('changed'))).listing
    expect({ models, ratePerMinute }).toEqual({ models: ['chat'], ratePerMinute: 30 })
    expect(await readBudgetOfKey(table, budget ?? { id: '', kind: 'day' })).toMatchObject({
      amount: parseCredits('7'),
      left: parseCredits('7'),
    })
  })

  it('writes an entry of the audit log for each key that a changed rule changes, by the rule', async () => {
    await admitSubject(table, subjectOf('audited'), now)
    await setApiKey(table, { keyId: listingOf('audited'), settings: { models: ['chat'] }, actor: TESTER })
    await admitSubject(table, subjectOf('audited', { rate: 30, budget: '7/day' }), now + 60_000)
    await admitSubject(table, subjectOf('audited', { rate: 30, budget: '7/day' }), now + 120_000)
    const { entries } = await readAudit(table, { limit: 100, actor: 'rule ci of' })
    expect(entries.filter(({ target }) => target === listingOf('audited'))).toMatchObject([
      {
        actor: 'rule ci of https://issuer.example.com',
        action: 'key set',
        before: { rule: 'ci', models: ['chat'], rate: 60, budget: '5/day' },
        after: { rule: 'ci', models: ['chat'], rate: 30, budget: '7/day' },
      },
    ])
  })

  it('writes no entry for a key whose own limits were lower than both rules', async () => {
    await admitSubject(table, subjectOf('lower'), now)
    const settings = { models: ['chat'], ratePerMinute: 5 }
    await setApiKey(table, { keyId: listingOf('lower'), settings, actor: TESTER })
    await admitSubject(table, subjectOf('lower', { rate: 30 }), now + 60_000)
    const { entries } = await readAudit(table, { limit: 5, targets: [listingOf('lower')] })
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['key set', TESTER.name],
      ['key create', 'lower of https://issuer.example.com'],
    ])
  })

  it('keeps what an operator lowered after a rule that was lower still', async () => {
    await admitSubject(table, subjectOf('twice'), now)
    const keyId = listingOf('twice')
    const budgetPlan = planKeyBudget(table, { amount: parseCredits('1'), kind: 'day' })
    const settings = { models: ['chat'], ratePerMinute: 20, budget: budgetPlan }
    await setApiKey(table, { keyId, settings, actor: TESTER })
    await admitSubject(table, subjectOf('twice', { models: ['image'], rate: 10, budget: '0.5/day' }), now + 60_000)
    expect((await getApiKey(table, keyId)).listing).toMatchObject({ models: [], ratePerMinute: 10 })
    await admitSubject(table, subjectOf('twice'), now + 120_000)
    const { models, ratePerMinute, budget } = (await getApiKey(table, keyId)).listing
    expect({ models, ratePerMinute }).toEqual({ models: ['chat'], ratePerMinute: 20 })
    expect(await readBudgetOfKey(table, budget ?? { id: '', kind: 'day' })).toMatchObject({ amount: parseCredits('1') })
  })

  it('is foreseen: an unused, a lowered, an expired and a revoked key, without a write', async () => {
    const foresee = async (rule: Partial<typeof RULE> = {}) =>
      await foreseeSubject(table, subjectOf('foreseen', rule), now + 60_000)
    const limits = { models: ['chat', 'image'], ratePerMinute: 60, budget: { amount: parseCredits('5'), kind: 'day' } }
    expect(await foresee()).toEqual({ keyId: listingOf('foreseen'), state: 'unused', ...limits })
    await admitSubject(table, subjectOf('foreseen'), now)
    const budget = planKeyBudget(table, { amount: parseCredits('1'), kind: 'day' })
    await setApiKey(table, { keyId: listingOf('foreseen'), settings: { ratePerMinute: 20, budget }, actor: TESTER })
    const lowered = { ratePerMinute: 20, budget: { amount: parseCredits('1'), kind: 'day' } }
    expect(await foresee()).toMatchObject({ state: 'active', ...limits, ...lowered })
    expect(await foresee({ models: ['image', 'video'], rate: 10 })).toMatchObject({
      ...{ models: ['image', 'video'], ratePerMinute: 10, budget: lowered.budget },
    })
    await setApiKey(table, { keyId: listingOf('foreseen'), settings: { expiresAt: now + 60_000 }, actor: TESTER })
    expect(await foresee()).toMatchObject({ state: 'expired', ...lowered })
    await revokeApiKey(table, listingOf('foreseen'), TESTER)
    expect(await foresee()).toMatchObject({ state: 'revoked', ...lowered })
  })

  it('gives all subjects of a rule one budget, where the rule says so', async () => {
    const { budget: _, ...rule } = RULE
    const limits = limitsOf({ ...rule, budget_of_all: '9/month' })
    const shared = ['one', 'two'].map((name) => ({ ...subjectOf(name), limits }))
    await Promise.all(shared.map((subject) => admitSubject(table, subject, now)))
    const budgets = await Promise.all(
      ['one', 'two'].map(async (name) => (await getApiKey(table, listingOf(name))).listing.budget),
    )
    expect(budgets[0]).toEqual(budgets[1])
  })

  it('is not available for a tenant that does not exist', async () => {
    const lost = { ...subjectOf('lost'), tenantId: 'nobody' }
    await expect(admitSubject(table, lost, now)).rejects.toThrow('service unavailable')
  })
})
