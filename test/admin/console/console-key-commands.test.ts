import { describe, expect, it } from 'vitest'
import { consoleKeyCreate, consoleKeyList, consoleKeyRevoke } from '../../../lib/cli/admin/console.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()

const run = async (command: typeof consoleKeyCreate, options: Record<string, string> = {}) =>
  await runCommand(command, { table: engine.table, options })

describe('console key', () => {
  it('create shows the key once; list shows its id, name, role and state; revoke ends it', async () => {
    const { json, text } = await run(consoleKeyCreate, { name: 'ada', role: 'viewer' })
    const { id, key } = Object(json)
    expect(text).toContain(key)
    const listed = await run(consoleKeyList)
    expect(listed.json).toEqual({
      keys: [{ id, name: 'ada', role: 'viewer', state: 'active', created_at: expect.any(String) }],
    })
    expect(listed.text).not.toContain(key)
    await run(consoleKeyRevoke, { key: id })
    expect(Object((await run(consoleKeyList)).json).keys).toMatchObject([{ id, state: 'revoked' }])
  })

  it.each([
    [{ name: 'ada', role: 'root' }, /owner or viewer/],
    [{ name: '', role: 'owner' }, /--name is empty/],
    [{ name: `rg_admin_8fK2mQ0z_${'x'.repeat(38)}`, role: 'owner' }, /contains a key/],
  ])('create refuses %j', async (options, message) => {
    await expect(run(consoleKeyCreate, options)).rejects.toThrow(message)
  })

  it('revoke names an unknown key', async () => {
    await expect(run(consoleKeyRevoke, { key: 'nobody00' })).rejects.toThrow(/no admin key nobody00/)
  })
})
