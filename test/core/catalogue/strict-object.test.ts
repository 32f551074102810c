import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { strictObject } from '#core/catalogue/strict-object.ts'

describe('strictObject', () => {
  const schema = strictObject({ id: z.string(), weight: z.number().optional() })

  it('takes the known keys', () => {
    expect(schema.parse({ id: 'a' })).toStrictEqual({ id: 'a' })
  })

  it('names every unknown key and lists the allowed ones', () => {
    expect(schema.safeParse({ id: 'a', wieght: 1, x: 2 }).error?.issues).toMatchObject([
      { message: 'unknown key "wieght", "x"; allowed: id, weight' },
    ])
  })

  it('leaves other errors to their own schema', () => {
    expect(schema.safeParse({ id: 5 }).error?.issues).toMatchObject([{ path: ['id'], code: 'invalid_type' }])
  })
})
