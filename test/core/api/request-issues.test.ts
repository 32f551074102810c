import { describe, expect, it } from '@jest/globals'
import * as z from 'zod'
import { parseBody } from '#core/api/request-issues.ts'
import { issuesOf } from '../shipped-catalogue.ts'

const schema = z.object({
  n: z.int('`n` must be an integer').optional(),
  stop: z
    .union([z.string(), z.array(z.string('`stop` must hold strings'))], '`stop` must be a string or an array')
    .optional(),
})
const refusalOf = (body: unknown) => issuesOf(() => parseBody(schema, body))

describe('parseBody', () => {
  it('returns what the schema makes of a body', () => {
    expect(parseBody(schema, { n: 1, other: 2 })).toEqual({ n: 1 })
  })

  it('reports the first issue only', () => {
    expect(refusalOf({ n: 'x', stop: 7 })).toEqual([{ path: 'n', message: '`n` must be an integer' }])
  })

  it('reports the branch of a union that matched the deepest, else the union', () => {
    expect(refusalOf({ stop: ['a', 7] })).toEqual([{ path: 'stop.1', message: '`stop` must hold strings' }])
    expect(refusalOf({ stop: 7 })).toEqual([{ path: 'stop', message: '`stop` must be a string or an array' }])
  })

  it('repeats nothing that the client sent', () => {
    expect(JSON.stringify(refusalOf({ n: 'secret' }))).not.toContain('secret')
  })
})
