import { describe, expect, it } from 'vitest'
import {
  accountOf,
  authenticatedCaller,
  headerLinesOf,
  headerOf,
  jsonResult,
  MiddlewareOrderError,
} from '#middleware/api-event.ts'
import { apiEvent } from './api-exchange.ts'

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
