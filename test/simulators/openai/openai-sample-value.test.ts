import { describe, expect, it } from 'vitest'
import { sampleValue } from '../../../lib/simulators/openai/openai-sample-value.ts'

const SAID = 'What is the weather in New York today?'

describe('a value made from a JSON schema', () => {
  it.each([
    ['a text', { type: 'string' }, 'New York'],
    ['a short text', { type: 'string', maxLength: 3 }, 'New'],
    ['a date', { type: 'string', format: 'date' }, '2026-04-20'],
    ['one of several', { type: 'string', enum: ['celsius', 'kelvin'] }, 'celsius'],
    ['a constant', { const: 4 }, 4],
    ['a default', { type: 'integer', default: 0 }, 0],
    ['an example', { type: 'string', examples: ['Rome'] }, 'Rome'],
    ['a number from a minimum', { type: 'integer', minimum: 2.5 }, 3],
    ['a number above a bound', { type: 'number', exclusiveMinimum: 4 }, 5],
    ['a truth', { type: 'boolean' }, true],
    ['nothing', { type: 'null' }, null],
    ['what may be nothing', { type: ['null', 'integer'] }, 1],
    ['a list', { type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
    ['a choice of schemas', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    ['no schema', undefined, 'New York'],
  ])('is right for %s', (_, schema, value) => {
    expect(sampleValue(schema, SAID)).toEqual(value)
  })

  it('has every member of an object, also of joined and of referenced ones', () => {
    const schema = {
      type: 'object',
      properties: { place: { $ref: '#/$defs/place' }, days: { type: 'integer' } },
      $defs: {
        place: {
          allOf: [
            { type: 'object', properties: { city: { type: 'string' } } },
            { type: 'object', properties: { exact: { type: 'boolean' } } },
          ],
        },
      },
    }
    expect(sampleValue(schema, SAID)).toEqual({ place: { city: 'New York', exact: true }, days: 1 })
  })

  it('ends where a schema contains itself', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(JSON.stringify(sampleValue(schema, SAID))).toContain('{"next":null}')
  })

  it('is what was said, cut short, where nothing was named', () => {
    expect(sampleValue({ type: 'string' }, 'x'.repeat(100))).toBe('x'.repeat(60))
  })
})
