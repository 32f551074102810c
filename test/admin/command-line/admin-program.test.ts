import { describe, expect, it } from 'vitest'
import { usageOf } from '../../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { typeWords } from './typed-line.ts'

describe('admin-program', () => {
  it('shows parameters before options, and optional ones in brackets', () => {
    const command = {
      name: 'secret set',
      summary: 'store a key',
      parameters: [{ name: 'NAME', summary: 'name of the key', required: true }],
      options: {
        config: { value: 'FILE', summary: 'a configuration' },
        tenant: { value: 'ID', summary: 'a tenant', required: true },
      },
      examples: [],
      run: async () => ({ json: {}, text: '' }),
    } as const
    expect(usageOf(command)).toBe('secret set NAME [--config FILE] --tenant ID')
  })

  it('shows for a command below another one only its own options and those of every command', async () => {
    const { out } = await typeWords(['ledger', 'verify', '--help'], COMMANDS)
    expect(out).toContain('--tenant ID|NAME')
    expect(out).toContain('--stage STAGE')
    expect(out).not.toContain('--csv')
  })

  it('breaks the lines of an explanation only where the terminal ends', async () => {
    const { out } = await typeWords(['tenant', 'adjust', '--help'], COMMANDS)
    const [, , explanation = ''] = out.split('\n\n')
    const lines = explanation.split('\n')
    for (const [index, line] of lines.slice(0, -1).entries()) {
      const [nextWord = ''] = lines[index + 1]?.split(' ') ?? []
      expect(`${line} ${nextWord}`.length).toBeGreaterThan(80)
    }
  })

  it('shows examples whose output goes to a program or a file with --silent', async () => {
    const exported = await typeWords(['ledger', 'export', '--help'], COMMANDS)
    expect(exported.out).toContain('\n  npm run --silent admin -- ledger export --tenant demo --local > ledger.csv')
    const listed = await typeWords(['key', 'list', '--help'], COMMANDS)
    expect(listed.out).toContain('\n  npm run --silent admin -- key list --tenant demo --json')
    expect(listed.out).toContain('\n  npm run admin -- key list --local')
  })
})
