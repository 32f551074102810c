import { describe, expect, it } from 'vitest'
import { headerValue, receivedRequest } from '#middleware/received-request.ts'
import { apiEvent, REQUEST_ID } from './api-exchange.ts'

describe('receivedRequest', () => {
  it('has the path, the names of the query, and the id of the platform', () => {
    const event = apiEvent({ path: '/v1/models', queryStringParameters: { a: '1', b: '2' } })
    expect(receivedRequest(event)).toMatchObject({
      path: '/v1/models',
      queryNames: ['a', 'b'],
      platformRequestId: REQUEST_ID,
    })
  })

  it('has every line of a header, whatever the case of its name', () => {
    const multiValueHeaders = { pReFeR: ['respond-async', 'handling=strict'] }
    const { headerLines } = receivedRequest(apiEvent({ headers: { pReFeR: 'handling=strict' }, multiValueHeaders }))
    expect([headerLines('prefer'), headerLines('origin')]).toEqual([['respond-async', 'handling=strict'], []])
  })

  it('has the headers of an emulator that sends one value of each', () => {
    const event = { ...apiEvent({ headers: { Authorization: 'Bearer key' } }), multiValueHeaders: {} }
    expect(receivedRequest(event).headerLines('authorization')).toEqual(['Bearer key'])
  })

  it.each([
    ['a string', { body: '{"é":1}', isBase64Encoded: false }, '{"é":1}'],
    ['base64', { body: Buffer.from('{}').toString('base64'), isBase64Encoded: true }, '{}'],
    ['nothing', { body: null, isBase64Encoded: false }, ''],
  ])('has the bytes of a body that is %s', (_, event, expected) => {
    expect(receivedRequest(apiEvent(event)).body).toEqual(Buffer.from(expected))
  })
})

describe('headerValue', () => {
  it('is the last line of a header, and undefined without one', () => {
    const request = { headerLines: (name: string) => (name === 'origin' ? ['https://a', 'https://b'] : []) }
    expect([headerValue(request, 'origin'), headerValue(request, 'prefer')]).toEqual(['https://b', undefined])
  })
})
