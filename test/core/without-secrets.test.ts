import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { createWebhookSecret } from '#adapters/outbound/callback-signature.ts'
import { generateApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { formatAdminKey } from '#core/api-key.ts'
import { formatSessionToken } from '#core/console/session-token.ts'
import { withoutSecrets } from '#core/without-secrets.ts'

describe('without-secrets', () => {
  it.each([
    ['an API key', generateApiKey()],
    ['an admin key', formatAdminKey('8fK2mQ0z', 'x'.repeat(32))],
    ['a token of a session', formatSessionToken({ sessionId: 'x'.repeat(16), key: undefined }, '_'.repeat(43))],
    ['a callback secret', createWebhookSecret()],
    ['a digest', sha256Hex('key')],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----'],
  ])('removes %s from a string', (_, secret) => {
    expect(withoutSecrets(`before ${secret}`)).toBe('before [redacted]')
  })

  it.each(['?X-Amz-Signature=', '&Signature='])('removes the signature of a url after %s', (before) => {
    expect(withoutSecrets(`https://cdn.example.com/v.mp4${before}ab~cd- end`)).toBe(
      `https://cdn.example.com/v.mp4${before}[redacted] end`,
    )
  })

  it('leaves names, ids and ARNs as they are', () => {
    const harmless = 'arn:aws:sts::123456789012:assumed-role/Admin/alice 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c 8fK2mQ0z'
    expect(withoutSecrets(harmless)).toBe(harmless)
  })
})
