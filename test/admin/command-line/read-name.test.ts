import { describe, expect, it } from 'vitest'
import { createWebhookSecret } from '#adapters/outbound/callback-signature.ts'
import { generateApiKey } from '#store/keys/key-changes.ts'
import { CommandValues } from '../../../lib/cli/admin/command.ts'
import { readLine, readName, requireName } from '../../../lib/cli/admin/read-options.ts'

const given = (name?: string) => new CommandValues(new Map(name === undefined ? [] : [['name', name]]))

describe('read-name', () => {
  it('takes a name in any script', () => {
    expect([readName(given('Acme 東京')), requireName(given('Acme'))]).toEqual(['Acme 東京', 'Acme'])
  })

  it.each(['a\u001b[2J', 'a\nb', 'a\u202eb'])('refuses %j, which a terminal would obey', (name) => {
    expect(() => readName(given(name))).toThrow('--name contains a control character')
    expect(() => requireName(given(name))).toThrow('--name contains a control character')
  })

  it.each([generateApiKey(), createWebhookSecret(), 'see https://cdn.example.com/v.mp4?Expires=1&Signature=abc~def'])(
    'refuses a name or a reason with a secret, and quotes nothing of the secret (%#)',
    (text) => {
      expect(() => readName(given(text))).toThrow(/^--name contains a key, a secret or a digest: leave it out$/)
      expect(() => readLine('reason', text)).toThrow(/^--reason contains a key, a secret or a digest: leave it out$/)
    },
  )

  it.each(['', ' ', 'a\nb', 'x'.repeat(501)])('refuses a reason that is no line of visible characters (%#)', (text) => {
    expect(() => readLine('reason', text)).toThrow('--reason: use one line of 1 to 500 visible characters')
  })

  it('a missing name is undefined, or a usage error where it is required', () => {
    expect(readName(given())).toBeUndefined()
    expect(() => requireName(given())).toThrow('--name is missing')
  })
})
