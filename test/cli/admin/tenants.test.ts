import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { readAudit } from '#store/audit/read-audit.ts'
import { findCaller } from '#store/callers.ts'
import type { Table } from '#store/table/table.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import type { Command } from '../../../lib/cli/admin/command.ts'
import { readCommandLine, runCommandLine } from '../../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { ledgerShow } from '../../../lib/cli/admin/ledger.ts'
import {
  tenantAdjust,
  tenantBudget,
  tenantCreate,
  tenantGrant,
  tenantLimit,
  tenantList,
  tenantResume,
  tenantShow,
  tenantSuspend,
} from '../../../lib/cli/admin/tenants.ts'
import type { Output } from '../../../lib/cli/output.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { ESTIMATE, openTenant, reserveJob, TESTER, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'

describe('tenant commands', () => {
  const engine = useTestTable()
  let table: Table
  let tenant: TestTenant
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openTenant(table)
  })

  const named = () => ({ tenant: tenant.tenantId })
  const caller = () => findCaller(table, tenant.keyDigest, Math.trunc(Date.now() / 1000))

  describe('the callback secret of a tenant', () => {
    const secretOf = (answer: Output) => ({
      json: Object(answer.json).webhook_secret,
      isInText: answer.text.includes('whsec_'),
    })

    it('is shown when it was made and when it is asked for, and otherwise not, to people and programs alike', async () => {
      const made = await runCommand(tenantCreate, { table, options: { name: 'New', credits: '1' } })
      const id = String(Object(made.json).id)
      const secret = expect.stringMatching(/^whsec_/)
      expect(secretOf(made)).toEqual({ json: secret, isInText: true })
      expect(secretOf(await runCommand(tenantShow, { table, options: { tenant: id, 'show-secret': true } }))).toEqual({
        json: Object(made.json).webhook_secret,
        isInText: true,
      })
      const none = { json: undefined, isInText: false }
      expect(secretOf(await runCommand(tenantShow, { table, options: { tenant: id } }))).toEqual(none)
      const grant = { tenant: id, credits: '1' }
      expect(secretOf(await runCommand(tenantGrant, { table, options: grant }))).toEqual(none)
    })
  })

  describe('a tenant', () => {
    it('is listed with its balance, state and open jobs, and without its callback secret', async () => {
      await reserveJob(table, tenant)
      await runCommand(tenantLimit, { table, options: { ...named(), 'open-jobs': '5' } })
      const { json, text } = await runCommand(tenantList, { table })
      expect(json).toEqual({
        tenants: [
          {
            id: tenant.tenantId,
            name: 'Test',
            state: 'active',
            available: '99.3',
            held: '0.7',
            spent: '0',
            granted: '100',
            open_jobs: 1,
            open_jobs_max: 5,
            budget: null,
            created_at: expect.stringMatching(/Z$/),
          },
        ],
      })
      expect(text).toMatch(/1 of 5$/)
      expect(JSON.stringify(json) + text).not.toContain('whsec_')
    })

    it('that is suspended is refused and shown as such, until it is resumed', async () => {
      expect(await runCommand(tenantSuspend, { table, options: named() })).toMatchObject({
        json: { state: 'suspended' },
      })
      expect(await caller()).toBeUndefined()
      expect((await runCommand(tenantShow, { table, options: named() })).text).toMatch(/state +suspended/)
      expect(await runCommand(tenantResume, { table, options: named() })).toMatchObject({ json: { state: 'active' } })
      expect(await caller()).toBeDefined()
    })

    it('is not suspended without a yes', async () => {
      const confirm = () => Promise.reject(new Error('no'))
      await expect(runCommand(tenantSuspend, { table, confirm, options: named() })).rejects.toThrow('no')
      expect(await caller()).toBeDefined()
    })

    it('loses its limit by the word none; anything but a whole number is refused', async () => {
      const limit = (value: string) => runCommand(tenantLimit, { table, options: { ...named(), 'open-jobs': value } })
      expect(await limit('0')).toMatchObject({ json: { open_jobs_max: 0 } })
      expect(await limit('none')).toMatchObject({ json: { open_jobs_max: null } })
      for (const value of ['', '-1', '1.5', 'all', '1e3', '9007199254740993']) {
        await expect(limit(value)).rejects.toThrow(`--open-jobs ${value}: use a whole number from 0, or none`)
      }
    })

    async function typed(words: readonly string[]) {
      let error = ''
      const writeError = (text: string) => {
        error += text
      }
      const terminal = { isInteractive: false, ask: async () => '', write: async () => undefined, writeError }
      return { code: await runCommandLine(words, { commands: COMMANDS, terminal }), error }
    }

    it.each([
      ['abc', '"abc" is not an amount: write digits'],
      ['1e3', '"1e3" is not an amount: write digits'],
      ['=-1', '"-1" is not an amount: write digits'],
      ['0.1234567', '"0.1234567" is not an amount: write digits with at most six decimal places'],
      ['99999999999', '"99999999999" is too large: the most is 1000000000'],
    ])('is not granted %s, nor made with it: that is a usage error', async (credits, sentence) => {
      for (const line of ['tenant grant --tenant demo', 'tenant create --name Acme']) {
        const given = credits.startsWith('=') ? [`--credits${credits}`] : ['--credits', credits]
        const { code, error } = await typed([...line.split(' '), ...given])
        expect(code).toBe(2)
        expect(error).toContain(`--credits ${sentence}`)
        expect(error).toContain(`usage: npm run admin -- ${line.slice(0, 'tenant grant'.length)}`)
      }
    })

    it.each([
      ['tenant grant --tenant demo', '--credits is missing: credits, such as 5.00 or 0.25'],
      ['tenant grant --tenant demo --credits 5USD', 'the unit is the credit, so write no currency'],
      ['tenant grant --tenant demo --amount 5', 'has no option --amount; did you mean --credits?'],
      ['tenant adjust --tenant demo --credits 5', 'has no option --credits; did you mean --amount?'],
    ])('by `%s` says the form of the amount, or its option', async (line, sentence) => {
      expect(await typed(line.split(' '))).toMatchObject({ code: 2, error: expect.stringContaining(sentence) })
    })

    it('has no name that another tenant has, unless told, because the name then finds neither', async () => {
      const create = (options: Readonly<Record<string, true>> = {}) =>
        runCommand(tenantCreate, { table, options: { name: 'Namesake', credits: '1', ...options } })
      const { id } = Object((await create()).json)
      await expect(create()).rejects.toThrow(
        `the name Namesake is taken by tenant ${id}: use another name, or allow a duplicate name (\`--allow-duplicate-name\`, \`allow_duplicate_name\`)`,
      )
      await expect(runCommand(tenantCreate, { table, options: { name: id, credits: '1' } })).rejects.toThrow(
        'is taken by tenant',
      )
      expect(Object((await create({ 'allow-duplicate-name': true })).json).name).toBe('Namesake')
    })

    it.each([
      [undefined, '0 of 10'],
      ['3', '0 of 3'],
      ['0', '0 of 0'],
      ['none', '0'],
    ])('made with --open-jobs %s may have %s', async (limit, openJobs) => {
      const options = { name: 'New', credits: '1', ...(limit === undefined ? {} : { 'open-jobs': limit }) }
      const { text } = await runCommand(tenantCreate, { table, options })
      expect(text).toMatch(new RegExp(`open_jobs\\s+${openJobs}$`, 'm'))
    })

    it('may begin with nothing, but is not granted nothing', async () => {
      const made = await runCommand(tenantCreate, { table, options: { name: 'Trial', credits: '0' } })
      expect(made).toMatchObject({ json: { available: '0' } })
      const granted = runCommand(tenantGrant, { table, options: { ...named(), credits: '0.00' } })
      await expect(granted).rejects.toThrow('--credits 0.00: use an amount above zero')
    })

    it('is granted once for each id, however often the command is repeated', async () => {
      const warnings: string[] = []
      const options = { ...named(), credits: '5', id: 'invoice-7' }
      const warn = (sentence: string) => void warnings.push(sentence)
      const [first, second] = [
        await runCommand(tenantGrant, { table, options, warn }),
        await runCommand(tenantGrant, { table, options, warn }),
      ]
      expect(second.json).toEqual({ ...Object(first.json), repeated: true })
      expect(warnings).toEqual(['grant invoice-7 already exists: nothing was added'])
      await expect(runCommand(tenantGrant, { table, options: { ...options, credits: '6' } })).rejects.toThrow(
        `grant invoice-7 of tenant ${tenant.tenantId} was made with 5 credits: use another id for another amount`,
      )
      await expect(runCommand(tenantGrant, { table, options: { ...options, id: 'a b' } })).rejects.toThrow(/^--id: use/)
    })

    it.each(['a\u001bb', 'a\nb', 'a\u202eb', '\u009b'])(
      'has no name with a control character, such as %j',
      async (name) => {
        const made = runCommand(tenantCreate, { table, options: { name, credits: '1' } })
        await expect(made).rejects.toThrow('--name contains a control character')
        expect(Object((await runCommand(tenantList, { table })).json).tenants).toHaveLength(1)
      },
    )

    it('with a control character in its name of before is shown without obeying it', async () => {
      const other = { id: 'x', name: 'a\u001b[2J\nb', webhookSecret: 'whsec_', credits: ESTIMATE, grantId: 'g' }
      await createTenant(table, { ...other, nowMilliseconds: 1 }, TESTER)
      const { text, json } = await runCommand(tenantList, { table })
      expect(text).toContain('a\\u{1b}[2J\\u{a}b  ')
      expect(text.split('\n')).toHaveLength(3)
      expect(JSON.stringify(json)).toContain(JSON.stringify(other.name))
    })

    it.each([tenantSuspend, tenantResume, tenantLimit])('that is not there is told as such by %#', async (command) => {
      const options = { tenant: 'nobody', 'open-jobs': '1' }
      await expect(runCommand(command, { table, options })).rejects.toThrow('no tenant nobody')
    })
  })
})

describe('tenant credit commands', () => {
  const engine = useTestTable()
  let table: Table
  let tenant: TestTenant
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openTenant(table, '10')
  })

  const REASON = { reason: 'granted twice' }

  describe('tenant adjust', () => {
    it.each([
      ['--amount -5', '-5'],
      ['--amount=-5', '-5'],
      ['--amount -0.25', '-0.25'],
      ['--amount 5', '5'],
    ])('takes %s from the command line', (words, amount) => {
      const line = `tenant adjust --tenant demo ${words} --reason why`
      const { command, values } = { values: undefined, ...readCommandLine(line.split(' '), COMMANDS) }
      expect([command?.name, values?.text('amount'), values?.text('reason')]).toEqual(['tenant adjust', amount, 'why'])
    })

    it('corrects the credits of a tenant by its name, and the ledger shows the id and the reason', async () => {
      const options = { tenant: 'Test', amount: '-5', id: 'ticket-1', ...REASON }
      const { json } = await runCommand(tenantAdjust, { table, options })
      expect(json).toMatchObject({ id: tenant.tenantId, available: '5', granted: '5' })
      expect(json).not.toHaveProperty('webhook_secret')
      const ledger = await runCommand(ledgerShow, { table, options: { tenant: 'Test' } })
      expect(Object(ledger.json).entries[0]).toEqual({
        ...{ kind: 'adjust', job: null, amount: '-5', actual: null, at: expect.any(String) },
        ...{ id: 'ticket-1', reason: 'granted twice' },
      })
      expect(ledger.text).toMatch(/adjust +-5 .*ticket-1 +granted twice/)
    })

    it('is made once for each id, and says when nothing was changed', async () => {
      const warnings: string[] = []
      const warn = (sentence: string) => void warnings.push(sentence)
      const options = { tenant: tenant.tenantId, amount: '-8', id: 'ticket-1', ...REASON }
      const first = await runCommand(tenantAdjust, { table, options, warn })
      const second = await runCommand(tenantAdjust, { table, options, warn })
      expect(second.json).toEqual({ ...Object(first.json), repeated: true })
      expect(warnings).toEqual(['adjustment ticket-1 already exists: nothing was changed'])
    })

    it('goes below zero with --allow-debt alone', async () => {
      const options = { tenant: tenant.tenantId, amount: '-11', ...REASON }
      await expect(runCommand(tenantAdjust, { table, options })).rejects.toThrow('would leave -1')
      const { json } = await runCommand(tenantAdjust, { table, options: { ...options, 'allow-debt': true } })
      expect(json).toMatchObject({ available: '-1', granted: '-1' })
    })

    it.each([
      [{ amount: '0' }, '--amount 0: use an amount other than zero'],
      [{ reason: '' }, '--reason: use one line'],
      [{ id: 'a b' }, '--id: use 1 to 64 letters'],
      [{ tenant: 'nobody' }, 'no tenant nobody'],
    ])('refuses %j', async (wrong, message) => {
      const options = { tenant: tenant.tenantId, amount: '1', ...REASON, ...wrong }
      await expect(runCommand(tenantAdjust, { table, options })).rejects.toThrow(message)
    })
  })

  describe('tenant grant', () => {
    it('finds the tenant by its name, and its id stands in the ledger', async () => {
      const options = { tenant: 'Test', credits: '5', id: 'invoice-7' }
      expect(await runCommand(tenantGrant, { table, options })).toMatchObject({ json: { available: '15' } })
      const ledger = await runCommand(ledgerShow, { table, options: { tenant: 'Test' } })
      expect(Object(ledger.json).entries).toEqual(
        expect.arrayContaining([expect.objectContaining({ id: 'invoice-7' })]),
      )
    })
  })
})

describe('tenant suspend and resume', () => {
  const engine = useTestTable()
  let table: Table
  beforeAll(async () => {
    table = engine.table
  })

  it('show and list who suspended a tenant, since when and why, until it is resumed', async () => {
    const { tenantId } = await openTenant(table)
    const options = { tenant: tenantId, reason: 'unpaid since October' }
    await runCommand(tenantSuspend, { table, options })
    const by = expect.stringMatching(/suspended since \S+Z by tester@test: unpaid since October/)
    expect((await runCommand(tenantShow, { table, options: { tenant: tenantId } })).text).toEqual(by)
    const listed = await runCommand(tenantList, { table })
    expect(listed.text).toEqual(by)
    expect(listed.json).toMatchObject({
      tenants: [{ suspension: { since: expect.any(String), by: 'tester@test', reason: 'unpaid since October' } }],
    })
    const resumed = await runCommand(tenantResume, { table, options: { tenant: tenantId } })
    expect(resumed.json).not.toHaveProperty('suspension')
  })

  it('find a tenant by its name, and confirm with both', async () => {
    const fresh = await engine.fresh()
    const { tenantId } = await openTenant(fresh)
    const asked: string[] = []
    const confirm = async (sentence: string) => void asked.push(sentence)
    const answer = await runCommand(tenantSuspend, { table: fresh, confirm, options: { tenant: 'Test' } })
    expect(answer).toMatchObject({ json: { id: tenantId, state: 'suspended' } })
    expect(asked).toEqual([`Every key of Test (${tenantId}) will be refused from the next request on`])
  })

  it('say when the tenant is in that state already, and leave who did it as it is', async () => {
    const { tenantId } = await openTenant(table)
    const warnings: string[] = []
    const warn = (sentence: string) => void warnings.push(sentence)
    const run = (command: Command, reason?: string) =>
      runCommand(command, { table, warn, options: { tenant: tenantId, reason } })
    await run(tenantResume)
    await run(tenantSuspend, 'unpaid')
    const { json } = await run(tenantSuspend, 'fraud')
    expect(json).toMatchObject({ suspension: { reason: 'unpaid' } })
    expect(warnings).toEqual([
      `tenant ${tenantId} is not suspended: nothing was changed`,
      `tenant ${tenantId} is suspended already: since when, by whom and why stay as they are`,
    ])
  })

  it.each(['', ' ', 'a\nb', 'x'.repeat(501)])('refuse the reason %j', async (reason) => {
    const { tenantId } = await openTenant(table)
    await expect(runCommand(tenantSuspend, { table, options: { tenant: tenantId, reason } })).rejects.toThrow(
      '--reason: use one line of 1 to 500 visible characters',
    )
  })
})

describe('tenant budget', () => {
  const engine = useTestTable()

  it('sets, shows and ends a budget, each with its entry in the audit log', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    const warnings: string[] = []
    const run = (options: Record<string, string | true>) =>
      runCommand(tenantBudget, {
        table,
        options: { tenant, ...options },
        warn: (sentence) => {
          warnings.push(sentence)
        },
      })
    const set = await run({ amount: '100', period: 'month' })
    expect(set.json).toMatchObject({ id: tenant, budget: { amount: '100', period: 'month', spent: '0', left: '100' } })
    expect(set.text).toContain('budget 100/month: 0 spent, 0 held, 100 left until ')
    for (const command of [tenantShow, tenantLimit]) {
      const { text } = await runCommand(command, {
        table,
        options: { tenant, ...(command === tenantLimit && { 'open-jobs': 'none' }) },
      })
      expect(text).toMatch(/^budget +100\/month: 0 spent/m)
    }
    expect(warnings).toEqual([])
    await run({ amount: '100', period: 'month' })
    expect(warnings).toEqual([`tenant ${tenant} has this budget already: nothing was changed`])
    expect((await run({ clear: true })).text).toBe(`tenant ${tenant}: no budget`)
    const { entries } = await readAudit(table, { limit: 10, targets: [tenant] })
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'tenant set', before: { budget: '100/month' }, after: { budget: null } },
      { action: 'tenant set', before: { budget: null }, after: { budget: '100/month' } },
    ])
  })

  it('without a change shows the budget and records nothing', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    expect(await runCommand(tenantBudget, { table, options: { tenant } })).toMatchObject({
      json: { id: tenant, budget: null },
      text: `tenant ${tenant}: no budget`,
    })
    expect((await readAudit(table, { limit: 10, targets: [tenant] })).entries).not.toContainEqual(
      expect.objectContaining({ action: 'tenant set' }),
    )
  })

  it('refuses an amount without a period', async () => {
    const { tenantId: tenant } = await openTenant(engine.table)
    const options = { tenant, amount: '5' }
    await expect(runCommand(tenantBudget, { table: engine.table, options })).rejects.toMatchObject({
      name: 'UsageError',
    })
  })
})
