import { describe, expect, it } from '@jest/globals'
import {
  accountOf,
  authenticatedCaller,
  headerLinesOf,
  headerOf,
  headerValue,
  jsonResult,
  MiddlewareOrderError,
  receivedRequest,
} from '#middleware/api-event.ts'
import { apiEvent, REQUEST_ID } from './api-exchange.ts'

describe('headerOf', () => {
  it.each(['x-name', 'X-Name', 'X-NAME'])('finds a header sent as %s', (name) => {
    expect(headerOf(apiEvent({ headers: { [name]: 'value' } }), 'X-nAmE')).toBe('value')
  })

  it('finds nothing where nothing was sent', () => {
    expect(headerOf(apiEvent(), 'x-name')).toBeUndefined()
    expect(headerOf(JSON.parse('{"headers":null}'), 'x-name')).toBeUndefined()
    expect(headerOf(apiEvent({ headers: {} }), 'constructor')).toBeUndefined()
  })
})

describe('headerLinesOf', () => {
  it('has the lines of a header in their order, however its name is written', () => {
    const multiValueHeaders = { 'X-Name': ['a', 'b'], other: ['c'], 'x-name': ['d'] }
    expect(headerLinesOf({ multiValueHeaders }, 'x-name')).toStrictEqual(['a', 'b', 'd'])
  })

  it('has none where nothing was sent', () => {
    expect(headerLinesOf(apiEvent(), 'x-name')).toStrictEqual([])
    expect(headerLinesOf(JSON.parse('{"multiValueHeaders":null}'), 'x-name')).toStrictEqual([])
  })
})

describe('authenticatedCaller', () => {
  it('throws rather than go on without authentication', () => {
    expect(() => authenticatedCaller(apiEvent())).toThrow(MiddlewareOrderError)
  })
})

describe('accountOf', () => {
  it('throws rather than show nothing where the account was not read', () => {
    expect(() => accountOf(apiEvent())).toThrow(MiddlewareOrderError)
  })
})

describe('jsonResult', () => {
  it('keeps the bytes of its text', () => {
    const body = '{ "n": 5.0 }'
    expect(jsonResult(200, body)).toStrictEqual({
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body,
    })
  })
})

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
