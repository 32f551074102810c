import { expect, test } from '@jest/globals'
import * as z from 'zod'
import { pageOf } from '#core/admin/read-responses.ts'

test('pageOf takes rows of its kind alone, and no field that is not described', () => {
  const page = { object: 'list', data: [1], has_more: true, next: 'x', as_of: 1_795_000_000 }
  const schema = pageOf(z.int())
  expect(schema.safeParse(page).success).toBe(true)
  expect(schema.safeParse({ ...page, data: ['a'] }).success).toBe(false)
  expect(schema.safeParse({ ...page, total: 1 }).success).toBe(false)
})
