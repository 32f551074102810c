import { describe, expect, it } from 'vitest'
import { credentialName } from '#core/catalogue/credential-name.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

describe('credentialName', () => {
  const [channel] = shippedConfig.channels
  it.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the operator writes exactly this.
    ['${P1_API_KEY}', 'P1_API_KEY'],
    ['', undefined],
  ])('of api_key %j is %j', (api_key, name) => {
    expect(channel && credentialName({ ...channel, api_key })).toBe(name)
  })
})
