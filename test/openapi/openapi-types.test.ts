import { readdirSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import * as z from 'zod'
import { ROUTES } from '#routes/index.ts'
import { readExamples, schemaReference, toJsonSchemas } from '../../lib/openapi/openapi-types.ts'

const write = (schema: z.ZodType, io: 'input' | 'output' = 'output') => toJsonSchemas({ One: schema }, io).One

describe('json-schema: toJsonSchemas', () => {
  it('refers to a named schema inside another', () => {
    const inner = z.object({ n: z.number() })
    const { Outer } = toJsonSchemas({ Inner: inner, Outer: z.object({ inner }) }, 'output')
    expect(Outer).toMatchObject({ properties: { inner: schemaReference('Inner') } })
    expect(schemaReference('Inner')).toEqual({ $ref: '#/components/schemas/Inner' })
  })

  it('requires a field with a default of responses, and not of requests', () => {
    const schema = z.object({ n: z.number().default(1) })
    expect(write(schema, 'output')).toHaveProperty('required', ['n'])
    expect(write(schema, 'input')).not.toHaveProperty('required')
  })

  it.each([
    [z.string().nullable(), { type: ['string', 'null'] }],
    [z.enum(['a', 'b']).nullable(), { type: ['string', 'null'], enum: ['a', 'b', null] }],
    [z.literal('a').nullable(), { type: ['string', 'null'], enum: ['a', null] }],
  ])('writes null as a type among others (%#)', (schema, expected) => {
    expect(write(schema)).toEqual(expected)
  })

  it('writes a union inside a union as one, and keeps null in a union of several types', () => {
    const schema = z.union([z.union([z.string().min(1), z.array(z.int())]), z.null()])
    expect(write(schema)).toEqual({
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'array', items: { type: 'integer' } }, { type: 'null' }],
    })
  })

  it('leaves out what says nothing: the limits of integers, patterns of formats, and its own names', () => {
    expect(write(z.int())).toEqual({ type: 'integer' })
    expect(write(z.int().min(1))).toEqual({ type: 'integer', minimum: 1 })
    expect(write(z.uuid())).toEqual({ type: 'string', format: 'uuid' })
    expect(write(z.looseObject({}))).toEqual({ type: 'object', additionalProperties: true })
  })
})

const files = readdirSync(new URL('../../lib/openapi/examples/', import.meta.url)).map((file) => file.slice(0, -5))

describe('examples', () => {
  it.each(files)('of %s have a summary and a value each', (name) => {
    const groups = Object.values(readExamples(name))
    expect(groups).not.toHaveLength(0)
    for (const example of groups.flatMap((group) => Object.values(group))) {
      expect(example).toEqual({ summary: expect.stringMatching(/\S/), value: expect.anything() })
    }
  })

  it('are of an operation or of the callback', () => {
    const names = [...ROUTES.map(({ operation }): string => operation), 'video-job-callback']
    expect(files.filter((file) => !names.includes(file))).toEqual([])
  })

  it('are none for an operation without a file', () => {
    expect(readExamples('no-such-operation')).toEqual({})
  })
})
