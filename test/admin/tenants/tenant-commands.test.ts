import { beforeEach, describe, expect, it } from 'vitest'
import { findCaller } from '#store/callers.ts'
import type { Table } from '#store/table/table.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import { runCommandLine } from '../../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import {
  tenantCreate,
  tenantGrant,
  tenantLimit,
  tenantList,
  tenantResume,
  tenantShow,
  tenantSuspend,
} from '../../../lib/cli/admin/tenants.ts'
import type { Output } from '../../../lib/cli/output.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { ESTIMATE, openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

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
        },
      ],
    })
    expect(text).toMatch(/1 of 5$/)
    expect(JSON.stringify(json) + text).not.toContain('whsec_')
  })

  it('that is suspended is refused and shown as such, until it is resumed', async () => {
    expect(await runCommand(tenantSuspend, { table, options: named() })).toMatchObject({ json: { state: 'suspended' } })
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

  it.each([
    ['abc', '"abc" is not an amount: write digits'],
    ['1e3', '"1e3" is not an amount: write digits'],
    ['=-1', '"-1" is not an amount: write digits'],
    ['0.1234567', '"0.1234567" is not an amount: write digits with at most six decimal places'],
    ['99999999999', '"99999999999" is too large: the most is 1000000000'],
  ])('is not granted %s, nor made with it: that is a usage error', async (credits, sentence) => {
    for (const line of ['tenant grant --tenant demo', 'tenant create --name Acme']) {
      const given = credits.startsWith('=') ? [`--credits${credits}`] : ['--credits', credits]
      let error = ''
      const writeError = (text: string) => {
        error += text
      }
      const terminal = { isInteractive: false, ask: async () => '', write: async () => undefined, writeError }
      expect(await runCommandLine([...line.split(' '), ...given], { commands: COMMANDS, terminal })).toBe(2)
      expect(error).toContain(`--credits ${sentence}`)
      expect(error).toContain(`usage: npm run admin -- ${line.slice(0, 'tenant grant'.length)}`)
    }
  })

  it('warns when another tenant has the name, because the name then finds neither', async () => {
    const warnings: string[] = []
    const create = () =>
      runCommand(tenantCreate, {
        table,
        options: { name: 'Namesake', credits: '1' },
        warn: (sentence) => void warnings.push(sentence),
      })
    await create()
    expect(warnings).toEqual([])
    await create()
    expect(warnings).toEqual(['another tenant has the name Namesake: commands find both by their ids only'])
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
    expect(second.json).toEqual(first.json)
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
