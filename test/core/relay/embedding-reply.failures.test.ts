import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entry, list, read } from './reading-embeddings.ts'

describe('an answer is a failure of the upstream', () => {
  it.each([
    ['with fewer entries than inputs', list(entry(0, '[1]')), '1 entries for 2 inputs'],
    [
      'with more entries than inputs',
      list(entry(0, '[1]'), entry(1, '[1]'), entry(2, '[1]')),
      '3 entries for 2 inputs',
    ],
    ['without entries', list(), '0 entries for 2 inputs'],
    ['without data', '{"object":"list"}', '0 entries for 2 inputs'],
    ['with an index twice', list(entry(0, '[1]'), entry(0, '[1]')), 'an input has no entry of its index'],
    ['with an index beyond', list(entry(0, '[1]'), entry(2, '[1]')), 'an input has no entry of its index'],
    ['with half an index', list(entry(0, '[1]'), entry(0.5, '[1]')), 'the index of an entry is not a whole number'],
    ['with data twice', '{"data":[],"data":[]}', 'the reply has data twice'],
    ['with two embeddings in an entry', list('{"embedding":[1],"embedding":[1]}'), 'an entry has two embeddings'],
    ['without an embedding in an entry', list('{"index":0}'), 'an entry has no embedding'],
    ['with null for a vector', list(entry(0, 'null')), 'an embedding is not a list of numbers'],
    ['with null in a vector', list(entry(0, '[1,null]')), 'an embedding is not a list of numbers'],
    ['with an entry that is no object', list('5'), 'an entry is not an object'],
    ['that is a list', '[]', 'the reply is not a JSON object'],
    ['that is no JSON', '<html>', 'the reply is not a JSON object'],
    ['that is empty', '', 'the reply is not a JSON object'],
    [
      'that begins with a byte order mark',
      `\ufeff${list(entry(0, '[1]'), entry(1, '[1]'))}`,
      'the reply is not a JSON object',
    ],
    ['that breaks off', list(entry(0, '[1]'), entry(1, '[1]')).slice(0, -1), 'the reply is not a JSON object'],
    ['that breaks off in a vector', '{"data":[{"embedding":[1,', 'the reply is not a JSON object'],
    ['that breaks off in a text', '{"data":[{"embedding":"AAA\\"', 'the reply is not a JSON object'],
    ['that goes on', `${list(entry(0, '[1]'), entry(1, '[1]'))}x`, 'the reply is not a JSON object'],
    ['with a member that is no JSON', '{"usage":{"a":01}}', 'the reply is not a JSON object'],
    ['with a byte order mark before a value', '{"usage":\ufeff5}', 'the reply is not a JSON object'],
    ['with a name that is no text', '{"a\nb":1}', 'the reply is not a JSON object'],
  ])('%s', (_, text, reason) => {
    expect(read(text, { inputs: 2 })).toStrictEqual({ kind: 'unusable', reason })
  })

  it.each([
    ['numbers beyond float32', 'base64', '[1,1e39]', 'an embedding is beyond float32'],
    ['base64 that is none', 'float', '"AAA*AAAA"', 'an embedding is not base64 of float32'],
    ['base64 of no length', 'float', '"AAAAA"', 'an embedding is not base64 of float32'],
    [
      'base64 of no length that looks like floats',
      'float',
      `"${'A'.repeat(17)}"`,
      'an embedding is not base64 of float32',
    ],
    ['half a float', 'float', '"AAA="', 'an embedding is not base64 of float32'],
    ['what is not a number', 'float', '"AADAfw=="', 'an embedding is not base64 of float32'],
    ['padding inside', 'float', '"AA==AAAA"', 'an embedding is not base64 of float32'],
    ['an escape that is none', 'float', '"\\q"', 'the reply is not a JSON object'],
  ] as const)('with %s where it has to be converted', (_, encodingFormat, embedding, reason) => {
    expect(read(list(entry(0, embedding)), { encodingFormat })).toStrictEqual({ kind: 'unusable', reason })
  })

  it.each(['[1,,2--3]', '[1,]', '[01]', '[.5]', '[-]', '[1.]', '[1e]', '[1 2]', '[+1]', '[1', '[NaN]'])(
    'with %s for a vector, in whichever encoding it was asked for',
    (embedding) => {
      for (const encodingFormat of ['float', 'base64'] as const) {
        const answer = read(list(entry(0, embedding)), { encodingFormat })
        expect(answer).toMatchObject({ kind: 'unusable' })
      }
    },
  )

  it.each(['"!!!"', '"AAA*AAAA"', '"AAAAA"', '"AAA="', '"AA==AAAA"', '"A==="', '"AAAAPw\u00e9"'])(
    'with %s for a vector, in whichever encoding it was asked for',
    (embedding) => {
      const reason = 'an embedding is not base64 of float32'
      for (const encodingFormat of ['float', 'base64'] as const) {
        const answer = read(list(entry(0, embedding)), { encodingFormat })
        expect(answer).toStrictEqual({ kind: 'unusable', reason })
      }
    },
  )

  it.each(['"\\q"', '"AAAAPw\n"'])('with %j for a vector, which is no JSON', (embedding) => {
    const reason = 'the reply is not a JSON object'
    const answer = read(list(entry(0, embedding)), { encodingFormat: 'base64' })
    expect(answer).toStrictEqual({ kind: 'unusable', reason })
  })

  it('or goes on as valid JSON, whatever comes', () => {
    const anything = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'0129+-.eE, ') }).map((text) => list(entry(0, `[${text}]`))),
      fc.string().map((text) => list(entry(0, `"${text}"`))),
      fc.json(),
      fc.string(),
      fc.jsonValue().map((data) => JSON.stringify({ data })),
    )
    fc.assert(
      fc.property(anything, fc.constantFrom('float', 'base64'), (text, encodingFormat) => {
        const answer = read(text, { encodingFormat })
        return 'kind' in answer || typeof JSON.parse(answer.text) === 'object'
      }),
      { numRuns: 500 },
    )
  })

  it('and is found out in linear time, whatever its nesting and its escapes', () => {
    const deep = '['.repeat(500_000)
    const escapes = '\\\\'.repeat(500_000)
    expect(read(`{"a":${deep}`)).toMatchObject({ kind: 'unusable' })
    expect(read(`{"a":"${escapes}`)).toMatchObject({ kind: 'unusable' })
    expect(read(`{"a":"${'\\"'.repeat(500_000)}`)).toMatchObject({ kind: 'unusable' })
  })
})
