import { describe, expect, it } from 'vitest'
import { recordEffect } from '../../../lib/cli/admin/audit.ts'
import { recordingTable } from './recording-table.ts'

const EFFECT = {
  action: 'secret set',
  target: { kind: 'secret', id: 'P1_API_KEY' },
  before: null,
  after: { state: 'set' },
} as const

describe('record-effect', () => {
  it('records an effect outside of the table with the actor and the time', async () => {
    const { table, entries } = recordingTable()
    const actor = async () => ({ name: 'alice', role: 'operator' }) as const
    const before = Date.now()
    await recordEffect({ table: async () => table, actor }, EFFECT)
    expect(entries).toMatchObject([
      { actor: 'alice', action: 'secret set', target: 'P1_API_KEY', at: expect.any(Number) },
    ])
    expect(Number(entries[0]?.at)).toBeGreaterThanOrEqual(before)
  })

  it('fails where nobody can be named, so that a change that follows is not made', async () => {
    const { table, entries } = recordingTable()
    const actor = () => Promise.reject(new Error('no credentials'))
    await expect(recordEffect({ table: async () => table, actor }, EFFECT)).rejects.toThrow('no credentials')
    expect(entries).toEqual([])
  })
})
