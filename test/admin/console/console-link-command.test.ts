import { describe, expect, it } from 'vitest'
import { findSignInLink } from '#store/sessions/sessions.ts'
import { consoleLink } from '../../../lib/cli/admin/console.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()

describe('console link', () => {
  it('prints a link of the local host that signs in the user of the machine', async () => {
    const outputs = { BaseUrl: 'http://127.0.0.1:8787' }
    const { text } = await runCommand(consoleLink, { table: engine.table, local: true, outputs })
    const [, secret = ''] = /^http:\/\/127\.0\.0\.1:8787\/console#link=(\S{43})$/.exec(text) ?? []
    expect(await findSignInLink(engine.table, secret, Date.now())).toMatchObject({ actor: 'tester@test' })
  })

  it('is refused for a deployed stage', async () => {
    await expect(runCommand(consoleLink, { table: engine.table })).rejects.toThrow(/--local/)
  })
})
