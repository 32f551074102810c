import { describe, expect, it } from '@jest/globals'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { channelDisable, channelList, modelList } from '../../lib/cli/admin/channels.ts'
import type { Command } from '../../lib/cli/admin/command.ts'
import { keyList, keySet } from '../../lib/cli/admin/keys.ts'
import { runCommand } from '../cli/admin/run-command.ts'
import { useSwitching } from '../cli/admin/switching.ts'
import { useTestTable } from '../engines/test-table.ts'
import { openTenant, TESTER } from '../engines/video-jobs.ts'
import { readRig } from './read/read-rig.ts'
import { writeCaller } from './write/write-rig.ts'

/** Each list that both doors show: its command, its path, and the field with its rows. */
const LISTS: readonly (readonly [Command, string, string])[] = [[keyList, '/keys', 'keys']]

describe('the admin API and the command line', () => {
  const engine = useTestTable()
  process.env.CONSOLE_ORIGIN = 'loopback'

  async function open() {
    const { table } = engine
    const { tenantId } = await openTenant(table)
    const limits = { models: ['a'], name: 'web', ratePerMinute: 9, budgetLimit: { amount: 5n, kind: 'day' } } as const
    const keyId = await storeApiKey(table, { key: generateApiKey(), tenantId, ...limits } as never, TESTER)
    return { table, tenantId, keyId }
  }

  it.each(LISTS.map(([command, path, rows]) => [command.name, { command, path, rows }] as const))(
    '%s --json prints the rows that HTTP pages through',
    async (_, { command, path, rows }) => {
      const { table } = await open()
      const read = readRig(table)
      const paged: unknown[] = []
      for (let after: unknown = ''; after !== null; ) {
        const { body } = await read(path, { limit: '1', ...(after === '' ? {} : { after: String(after) }) })
        paged.push(...(body[rows] as unknown[]))
        after = body.next
      }
      const { json } = await runCommand(command, { table })
      expect(paged.length).toBeGreaterThan(1)
      expect(json).toEqual({ [rows]: paged })
    },
  )

  it('key set --json prints what PATCH responds', async () => {
    const { table, keyId } = await open()
    const { body } = await writeCaller(table)('PATCH', `/keys/${keyId}`, { body: { name: 'shop' } })
    const { json } = await runCommand(keySet, { table, options: { key: keyId, name: 'shop' } })
    expect(json).toEqual(body)
  })
})

describe('the admin API and the command line, about channels', () => {
  const { run, table } = useSwitching()

  it.each([
    [channelList, '/channels'],
    [modelList, '/models'],
  ] as const)('print and respond with the same JSON (%#)', async (command, path) => {
    await run(channelDisable, 'main')
    const { body } = await readRig(table())(path)
    expect((await run(command)).json).toEqual({ ...body, as_of: expect.any(String) })
  })
})
