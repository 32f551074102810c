import { describe, expect, it } from '@jest/globals'
import { parseChannelSecret } from '../../../lib/admin/secrets/channel-secret.ts'

describe('channel-secret', () => {
  it('reads keys by their names', () => {
    expect(parseChannelSecret('{"MAIN_KEY":"sk-1"}')).toEqual({ MAIN_KEY: 'sk-1' })
  })

  it.each(['sk-1', '["sk-1"]', '{"MAIN_KEY":{"key":"sk-1"}}', ''])('is undefined for %j', (content) => {
    expect(parseChannelSecret(content)).toBeUndefined()
  })
})
