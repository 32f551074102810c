import { describe, expect, it } from 'vitest'
import { resourcesOf, shippedConfiguration, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack()
const { config } = shippedConfiguration
const open = synthesizeStack({ config: { ...config, cors: { origins: ['https://app.example.com'] } } })

function gatewayResponse(type: string) {
  const found = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse').find(
    ({ properties }) => properties.ResponseType === type,
  )?.properties
  return { ...found, body: JSON.parse(found?.ResponseTemplates['application/json']) }
}

describe('gateway-error-responses: refusals by API Gateway', () => {
  it.each([
    ['DEFAULT_4XX', undefined, 'request refused', 'invalid_request_error', null],
    ['DEFAULT_5XX', undefined, 'internal error', 'server_error', null],
    ['MISSING_AUTHENTICATION_TOKEN', '404', 'not found', 'invalid_request_error', 'not_found'],
    ['INVALID_SIGNATURE', '404', 'not found', 'invalid_request_error', 'not_found'],
    ['WAF_FILTERED', '403', 'request blocked', 'invalid_request_error', 'request_blocked'],
    ['BAD_REQUEST_BODY', undefined, 'invalid request body', 'invalid_request_error', null],
    ['REQUEST_TOO_LARGE', '413', 'request body too large', 'invalid_request_error', 'request_body_too_large'],
    ['INTEGRATION_TIMEOUT', '504', 'gateway timeout', 'server_error', null],
    ['THROTTLED', '429', 'rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
    ['QUOTA_EXCEEDED', '429', 'rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
  ])('%s has the error shape of OpenAI', (responseType, status, message, type, code) => {
    const response = gatewayResponse(responseType)
    expect(response.StatusCode).toBe(status)
    expect(response.body).toEqual({ error: { message, type, param: null, code } })
  })

  it('returns Retry-After to a throttled client', () => {
    expect(gatewayResponse('THROTTLED').ResponseParameters).toMatchObject({
      'gatewayresponse.header.Retry-After': "'1'",
    })
  })

  it('has the request id on every response, like the functions, and is never taken for another type', () => {
    const responses = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')
    expect(responses.length).toBeGreaterThan(0)
    for (const { properties } of responses) {
      expect(properties.ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.requestId',
        'gatewayresponse.header.x-content-type-options': "'nosniff'",
      })
    }
  })

  it('can be read by scripts of any origin where browsers may use the API, and only there', () => {
    for (const { properties } of resourcesOf(open, 'AWS::ApiGateway::GatewayResponse')) {
      expect(properties.ResponseParameters).toMatchObject({
        'gatewayresponse.header.access-control-allow-origin': "'*'",
        'gatewayresponse.header.access-control-expose-headers': "'x-request-id, retry-after'",
      })
    }
    expect(JSON.stringify(template)).not.toContain('access-control')
  })

  it('never returns a message of API Gateway, which may quote the Authorization header', () => {
    expect(JSON.stringify(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse'))).not.toContain('$context')
  })
})
