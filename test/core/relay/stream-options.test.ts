import { describe, expect, it } from 'vitest'
import { askForUsage } from '#core/relay/chat-call.ts'

describe('askForUsage', () => {
  it.each([undefined, 'null', '{}', '{"include_usage":false}', '{"include_usage":false,"include_usage":false}'])(
    'asks for the usage where the client said %s',
    (options) => {
      expect(JSON.parse(askForUsage(options))).toEqual({ include_usage: true })
    },
  )

  it('keeps the other options of the client, byte for byte', () => {
    expect(askForUsage('{"include_obfuscation": 1.0}')).toContain('"include_obfuscation": 1.0')
  })
})
