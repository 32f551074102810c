import { describe, expect, it } from '@jest/globals'
import * as z from 'zod/mini'
import { changeObject, parseRequest, requestObject } from '#core/admin/parse-request.ts'
import { amountField, budgetField, endField, nameField, overlapField, rowIdField } from '#core/admin/request-fields.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { parsePositiveCredits, parseSignedCredits } from '#core/money.ts'

const positiveCreditsField = amountField(parsePositiveCredits, '')
const signedCreditsField = amountField(parseSignedCredits, '')

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

describe('parseRequest', () => {
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
      { path: 'inner.a', message: 'required: use a number' },
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

describe('fields of admin requests', () => {
  it('say what is wrong with an amount', () => {
    for (const field of [positiveCreditsField, signedCreditsField]) {
      expect(field.safeParse('1.0000001').error?.issues).toMatchObject([
        { message: expect.stringContaining('1.0000001') },
      ])
      expect(field.safeParse(1).error?.issues).toMatchObject([{ message: expect.stringContaining('decimal string') }])
    }
  })

  it('read amounts exactly', () => {
    expect(positiveCreditsField.parse('0.000001')).toBe(1n)
    expect(signedCreditsField.parse('-5')).toBe(-5_000_000n)
    expect(budgetField().parse({ amount: '5', period: 'month' })).toEqual({ amount: 5_000_000n, kind: 'month' })
  })

  it.each([
    [
      positiveCreditsField,
      ['0', '0.0', '-1', '1e3', '', ' 1', '1.0000001', '1000000001', '9'.repeat(99), 1, null, ['1']],
    ],
    [signedCreditsField, ['0', '-0', '+1', '--1']],
    [rowIdField(), ['', 'a b', 'a#b', 'a/b', 'x'.repeat(65), 7]],
    [nameField(), ['', '  ', 'a\nb', 'a\u202eb', 'x'.repeat(201), '\ud800', `whsec_${'a'.repeat(20)}`]],
    [overlapField(), [-1, 0.5, 1e9, '60']],
    [endField(), [-1, 1.5, 1e13, '2027-01-01']],
  ])('%# refuse what has another form', (field, values) => {
    for (const value of values) {
      expect([value, field.safeParse(value).success]).toEqual([value, false])
    }
  })

  it('read names in every script', () => {
    expect(nameField().parse('Zoë & Söhne 株式会社 🎥')).toBe('Zoë & Söhne 株式会社 🎥')
  })
})
