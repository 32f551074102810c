import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { findCaller } from '#adapters/stores/key-store.ts'
import type { Table } from '#adapters/stores/table.ts'
import { tenantLimit, tenantList, tenantResume, tenantShow, tenantSuspend } from '../../lib/admin/tenant-commands.ts'
import { startTestTable, type TestTable } from '../engines/start-test-table.ts'
import { openTenant, reserveJob, type TestTenant } from '../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'

let engine: TestTable
let table: Table
let tenant: TestTenant
beforeAll(async () => {
  engine = await startTestTable()
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table)
})
afterAll(() => engine.close())

const named = () => ({ tenant: tenant.tenantId })
const caller = () => findCaller(table, tenant.keyDigest, Math.trunc(Date.now() / 1000))

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

  it.each([tenantSuspend, tenantResume, tenantLimit])('that is not there is told as such by %#', async (command) => {
    const options = { tenant: 'nobody', 'open-jobs': '1' }
    await expect(runCommand(command, { table, options })).rejects.toThrow('no tenant nobody')
  })
})
