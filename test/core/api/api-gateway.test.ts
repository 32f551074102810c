import { describe, expect, it } from '@jest/globals'
import { gatewayErrorBody } from '#core/api/api-gateway.ts'

describe('gatewayErrorBody', () => {
  it.each([
    [413, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [502, 'server_error'],
  ])('writes an error with status %i as %s of OpenAI', (status, type) => {
    const text = gatewayErrorBody({ status, message: 'words', code: null })
    expect(text).toBe(`{"error":{"message":"words","type":"${type}","param":null,"code":null}}`)
  })
})
