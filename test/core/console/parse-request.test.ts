import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { changeObject, parseRequest, requestObject } from '#core/console/parse-request.ts'
import { InvalidRequestError } from '#core/errors.ts'

const schema = requestObject({
  name: z.string('use a string'),
  inner: z.optional(requestObject({ a: z.int('use a number') })),
})

function issueOf(body: unknown, by: z.ZodMiniType = schema) {
  try {
    parseRequest(by, body)
    return undefined
  } catch (error) {
    return error instanceof InvalidRequestError ? error.issues : error
  }
}

describe('parse-request', () => {
  it('gives what a good body says', () => {
    expect(parseRequest(schema, { name: 'a' })).toEqual({ name: 'a' })
  })

  it.each([
    [
      { name: 'a', nam: 'b' },
      { path: 'nam', message: 'unknown field; allowed: name, inner' },
    ],
    [
      { name: 'a', inner: { b: 1 } },
      { path: 'inner.a', message: 'use a number' },
    ],
    [
      { name: 'a', inner: { a: 1, b: 1 } },
      { path: 'inner.b', message: 'unknown field; allowed: a' },
    ],
    [JSON.parse('{"name":"a","__proto__":1}'), { path: '__proto__', message: 'unknown field; allowed: name, inner' }],
    [{ name: 7 }, { path: 'name', message: 'use a string' }],
    [[], { path: '', message: 'use a JSON object with: name, inner' }],
    [null, { path: '', message: 'use a JSON object with: name, inner' }],
  ])('refuses %j with the name of the field and what is allowed', (body, issue) => {
    expect(issueOf(body)).toEqual([issue])
  })

  it('cuts a long name, and does not repeat what was sent', () => {
    const [issue] = Object(issueOf({ name: 'a', ['x'.repeat(500)]: 'secret' }))
    expect(issue.path).toHaveLength(64)
    expect(JSON.stringify(issue)).not.toContain('secret')
  })

  it('refuses a change of nothing', () => {
    const change = changeObject({ a: z.optional(z.string()), b: z.optional(z.string()) })
    expect(issueOf({}, change)).toEqual([{ path: '', message: 'nothing to change: send at least one of a, b' }])
    expect(issueOf({ a: 'x' }, change)).toBeUndefined()
  })
})
