import { describe, expect, it } from 'vitest'
import { findSignInLink, makeSignInLink } from '#adapters/store/console/sign-in-link.ts'
import { ConditionsNotMetError } from '#adapters/store/table/conditions-not-met-error.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()

const NOW = 1_800_000_000_000

describe('a one-time link', () => {
  it('is found for ten minutes, by its secret alone', async () => {
    const { table } = engine
    const secret = await makeSignInLink(table, 'ada@host', NOW)
    expect(await findSignInLink(table, secret, NOW + 599_999)).toMatchObject({ actor: 'ada@host' })
    expect(await findSignInLink(table, secret, NOW + 600_000)).toBeUndefined()
    expect(await findSignInLink(table, `${secret}x`, NOW)).toBeUndefined()
  })

  it('is used up by the first of two sign-ins', async () => {
    const { table } = engine
    const secret = await makeSignInLink(table, 'ada@host', NOW)
    const [one, other] = await Promise.all([1, 2].map(() => findSignInLink(table, secret, NOW)))
    await table.transact(one?.use ?? {})
    await expect(table.transact(other?.use ?? {})).rejects.toBeInstanceOf(ConditionsNotMetError)
    expect(await findSignInLink(table, secret, NOW)).toBeUndefined()
  })
})
