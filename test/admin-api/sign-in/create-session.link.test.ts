import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeSignInLink } from '#store/sessions/sessions.ts'
import type { Table } from '#store/table/table.ts'
import { useTestTable } from '../../engines/test-table.ts'
import { captureLog } from '../../middleware/api-exchange.ts'
import { Browser } from './browser.ts'

const environment = { ...process.env }
const engine = useTestTable()
let table: Table
beforeEach(async () => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  table = await engine.fresh()
  captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(async () => {
  process.env = environment
})

const browser = () => new Browser(() => table)
/** Moves the clock; timers keep their pace. */
function pass(milliseconds: number): void {
  const now = Date.now() + milliseconds
  vi.spyOn(Date, 'now').mockImplementation(() => now)
}

describe('a one-time link', () => {
  it('signs in its user once as an owner, however many use it at once', async () => {
    const link = await makeSignInLink(table, 'ada@host', Date.now())
    const responses = await Promise.all(Array.from({ length: 5 }, () => browser().signIn({ link })))
    const [winner, ...others] = responses.filter(({ status }) => status === 200)
    expect(winner?.body).toMatchObject({ kind: 'local', role: 'owner', actor: 'ada@host' })
    expect(others).toEqual([])
    expect(await browser().signIn({ link })).toMatchObject({ status: 401 })
  })

  it('ends after ten minutes', async () => {
    const link = await makeSignInLink(table, 'ada@host', Date.now())
    pass(600_000)
    expect(await browser().signIn({ link })).toMatchObject({ status: 401 })
  })

  it('signs in nobody but on loopback', async () => {
    process.env.CONSOLE_ORIGIN = 'https://console.example'
    const link = await makeSignInLink(table, 'ada@host', Date.now())
    const response = await browser().signIn({ link }, { headers: { origin: 'https://console.example' } })
    expect(response).toMatchObject({ status: 401 })
  })
})
