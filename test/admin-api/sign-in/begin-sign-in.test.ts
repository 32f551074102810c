import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { TooManySignInsError } from '#core/admin/errors.ts'
import { beginSignIn } from '#lambdas/admin-api/sign-in/sessions.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { adminEvent } from '../../middleware/admin-exchange.ts'

const environment = { ...process.env }
const engine = useTestTable()
let table: Table
beforeEach(async () => {
  delete process.env.FRONT_DOOR_SECRET_ARN
  table = await engine.fresh()
})
afterAll(async () => {
  process.env = environment
})

const NOW = 1_800_000_030_000
const event = (viewer: string) =>
  adminEvent('POST', '/admin/v1/session', { headers: { 'x-reelgate-viewer-address': viewer } })
const actors = async () => (await readAudit(table, { limit: 99 })).entries.map(({ actor, at }) => ({ actor, at }))

describe('beginSignIn', () => {
  it('counts by the address of API Gateway, and believes no header, without a front door', async () => {
    for (let failure = 0; failure < 10; failure += 1) {
      await beginSignIn(table, event(`203.0.113.${failure}`), NOW)
    }
    await expect(beginSignIn(table, event('203.0.113.99'), NOW)).rejects.toBeInstanceOf(TooManySignInsError)
  })

  it('counts by the viewer of the front door', async () => {
    process.env.FRONT_DOOR_SECRET_ARN = 'arn:front-door'
    for (let failure = 0; failure < 10; failure += 1) {
      await beginSignIn(table, event('203.0.113.1'), NOW)
    }
    await expect(beginSignIn(table, event('203.0.113.1'), NOW)).rejects.toBeInstanceOf(TooManySignInsError)
    await expect(beginSignIn(table, event('203.0.113.2'), NOW)).resolves.toBeDefined()
  })

  it('counts every refusal, and records one for an address and minute', async () => {
    const attempts = await Promise.all([1, 2].map(() => beginSignIn(table, event('x'), NOW)))
    const telemetry = captureTelemetry()
    await Promise.all(attempts.map(({ recordRefusal }) => recordRefusal('wrong')))
    await (await beginSignIn(table, event('x'), NOW + 60_000)).recordRefusal('wrong')
    expect(telemetry.counted()).toEqual(Array.from({ length: 3 }, () => 'sign_in_refused'))
    expect(await actors()).toEqual([
      { actor: '127.0.0.1', at: 1_800_000_060_000 },
      { actor: '127.0.0.1', at: 1_800_000_000_000 },
    ])
  })
})
