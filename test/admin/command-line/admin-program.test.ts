import { describe, expect, it } from '@jest/globals'
import { usageOf } from '../../../lib/admin/command-line/admin-program.ts'

describe('admin-program', () => {
  it('shows parameters before options, and what may be left out in brackets', () => {
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
})
