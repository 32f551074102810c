import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { EncodingFormat } from '#core/api/embedding-request.ts'
import { EmbeddingReplyReader } from '#lambdas/relay/protocols/embedding.ts'
import { pushInPieces, rulesOf } from '../../core/relay/reply-rules.ts'
import { fixtureAnswer } from './fixture-answer.ts'

/** What the SDKs do with the base64 that they ask for. */
const floatsOf = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64')
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4))
}

/** The largest finite float32. */
const FLOAT32_MAX = (2 - 2 ** -23) * 2 ** 127

const base64Of = (floats: readonly number[]) => Buffer.from(Float32Array.from(floats).buffer).toString('base64')

describe('EmbeddingReplyReader: the recorded replies', () => {
  it.each([
    ['oai_embeddings_float', 2, 'float', 2],
    ['oai_embeddings_base64', 1, 'base64', 1],
  ] as const)('of %s keep every byte but the model', (name, inputs, encodingFormat, promptTokens) => {
    const text = fixtureAnswer(name)
    const asked = { inputs, encodingFormat, publicModel: 'text-embedding-3-small' }
    expect(read(text, asked)).toStrictEqual({ text, promptTokens })
    const upstream = text.replace('"text-embedding-3-small"', '"upstream/embed \\u00e9"')
    expect(relayed(upstream, asked)).toBe(text)
  })

  it('become each other where the other encoding was asked for', () => {
    const floats = fixtureAnswer('oai_embeddings_float')
    const first = entry(0, '[0.5, -0.25, 0.125, 1.0]')
    expect(floats).toContain('[0.5, -0.25, 0.125, 1.0]')
    expect(relayed(list(first), { encodingFormat: 'base64' })).toBe(list(entry(0, '"AAAAPwAAgL4AAAA+AACAPw=="')))
    const base64 = fixtureAnswer('oai_embeddings_base64')
    const asked = { publicModel: 'text-embedding-3-small' }
    expect(relayed(base64, asked)).toBe(base64.replace('"AAAAPwAAgL4AAAA+AACAPw=="', '[0.5,-0.25,0.125,1]'))
  })
})

describe('EmbeddingReplyReader: the model of a reply', () => {
  const [before, after] = ['{ "data" : [{"index":0,"embedding":[1.0],"model":"m"}]', '"x":{"model":"m"}, "y":1e2 }']

  it('is replaced at top level only, wherever it stands and however it is spelt', () => {
    for (const spelt of ['"model"', '"\\u006dodel"']) {
      const of = (model: string) => `${before}, ${spelt} : ${model} ,${after}`
      expect(relayed(of('"up"'))).toBe(of('"public"'))
      expect(relayed(of('null'))).toBe(of('"public"'))
    }
    expect(relayed('{"model":"up","data":[{"index":0,"embedding":[1]}],"model":"up"}')).toBe(
      '{"model":"public","data":[{"index":0,"embedding":[1]}],"model":"public"}',
    )
  })

  it('is put in where there is none', () => {
    expect(relayed(`${before},${after}`)).toBe(`${before},${after.replace(' }', ',"model":"public" }')}`)
    expect(relayed('{"data":[{"index":0,"embedding":[1]}]\n}')).toBe(
      '{"data":[{"index":0,"embedding":[1]}],"model":"public"\n}',
    )
  })

  it('is found behind texts that end in backslashes or hold quotes', () => {
    const of = (model: string) =>
      `{"a":"\\\\","b":"\\\\\\"","\\"":1,"data":[{"embedding":[1],"index":0}],"model":"${model}"}`
    expect(relayed(of('up'))).toBe(of('public'))
  })

  it('is the only piece of a large reply that is not the upstream’s own bytes', () => {
    const bytes = Buffer.from(list(...Array.from({ length: 2048 }, (_, index) => entry(index, '[1.5,-2.25e-3]'))))
    const reader = new EmbeddingReplyReader({ ...rulesOf('p'), inputs: 2048, encodingFormat: 'float' })
    reader.push(bytes)
    const answer = reader.end()
    const pieces = answer.kind === 'reply' ? answer.relayed(undefined) : []
    expect(pieces).toHaveLength(3)
    expect(pieces.filter((piece) => piece.buffer === bytes.buffer)).toHaveLength(2)
  })
})

describe('a vector in the encoding that was not asked for', () => {
  const floats = fc.array(fc.double({ noNaN: true, min: -FLOAT32_MAX, max: FLOAT32_MAX }), { maxLength: 20 })
  const float32 = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 20 })

  it('becomes base64 of little-endian float32, rounded as Math.fround does', () => {
    fc.assert(
      fc.property(floats, (numbers) => {
        const text = numbers.map((number) => (Object.is(number, -0) ? '-0' : String(number))).join(', ')
        const answer = JSON.parse(relayed(list(entry(0, `[${text}]`)), { encodingFormat: 'base64' }))
        expect(answer.data[0].embedding).toBe(base64Of(numbers))
        expect(floatsOf(answer.data[0].embedding)).toStrictEqual(numbers.map(Math.fround))
      }),
    )
  })

  it('becomes the very same numbers', () => {
    fc.assert(
      fc.property(float32, (numbers) => {
        const answer = JSON.parse(relayed(list(entry(0, `"${base64Of(numbers)}"`))))
        expect(answer.data[0].embedding).toStrictEqual(numbers)
      }),
    )
  })

  it('keeps the sign of nought', () => {
    expect(relayed(list(entry(0, '[-0.0]')), { encodingFormat: 'base64' })).toBe(list(entry(0, '"AAAAgA=="')))
    expect(relayed(list(entry(0, '"AAAAgA=="')))).toBe(list(entry(0, '[-0.0]')))
  })

  it('may have its base64 escaped or without padding', () => {
    expect(relayed(list(entry(0, '"\\u0041AAAPwAAgL4"')))).toBe(list(entry(0, '[0.5,-0.25]')))
    expect(relayed(list(entry(0, '"AAAAPw"')))).toBe(list(entry(0, '[0.5]')))
    expect(relayed(list(entry(0, '"\\/\\/8AAA=="')))).toBe(list(entry(0, `[${floatsOf('//8AAA==')[0]}]`)))
  })

  it('is the only thing that changes, vector by vector', () => {
    const text = list(
      '{ "index": 0, "embedding" : [ 1.0, 2 ] , "x": [1.0] }',
      entry(1, '"AAAAPw=="'),
      '{"embedding":[0.50],"index":2.0}',
    )
    const changed = text.replace('[ 1.0, 2 ]', '"AACAPwAAAEA="').replace('[0.50]', '"AAAAPw=="')
    expect(relayed(text, { inputs: 3, encodingFormat: 'base64' })).toBe(changed)
  })
})

describe('a vector in the encoding that was asked for', () => {
  it('keeps every byte of its base64, escaped or without padding', () => {
    for (const base64 of ['""', '"AAAAPw=="', '"AAAAPw"', '"AAAAPwAAgL4="', '"\\u0041AAAPw"', '"\\/\\/8AAA=="']) {
      const text = list(entry(0, base64))
      expect(relayed(text, { encodingFormat: 'base64' })).toBe(text)
    }
  })

  it('keeps numbers that are no float32', () => {
    const text = list(entry(0, '[1e39, -1E+300, 0.1234567890123456789]'))
    expect(relayed(text)).toBe(text)
  })
})

describe('EmbeddingReplyReader: the entries of a reply', () => {
  const order = fc.integer({ min: 1, max: 12 }).chain((size) =>
    fc.shuffledSubarray(
      Array.from({ length: size }, (_, index) => index),
      { minLength: size, maxLength: size },
    ),
  )

  it('come in the order of the inputs, each byte for byte', () => {
    fc.assert(
      fc.property(order, fc.constantFrom(' , ', ',', '\n,\t'), (indexes, comma) => {
        const of = (sorted: readonly number[]) => {
          const entries = sorted.map((index) => `{"embedding": [${index}.50 ],"index":${index}}`)
          return `{"data":[ ${entries.join(comma)} ],"model":"public"}`
        }
        const sorted = indexes.toSorted((left, right) => left - right)
        expect(relayed(of(indexes), { inputs: indexes.length })).toBe(of(sorted))
      }),
    )
  })

  it('are converted where they belong', () => {
    const text = list(entry(1, '[0.5]'), entry(0, '[1]'))
    const wanted = list(entry(0, '"AACAPw=="'), entry(1, '"AAAAPw=="'))
    expect(relayed(text, { inputs: 2, encodingFormat: 'base64' })).toBe(wanted)
  })

  it('get the index that their upstream left out', () => {
    const text = '{"data":[{"embedding":[1]},{ "embedding":[2]}],"model":"public"}'
    const wanted = '{"data":[{"index":0,"embedding":[1]},{"index":1, "embedding":[2]}],"model":"public"}'
    expect(relayed(text, { inputs: 2 })).toBe(wanted)
    // Some servers leave out members that are nought.
    const disordered =
      '{"data":[{"embedding":[1]},{"index":2,"embedding":[3]},{"index":1,"embedding":[2]}],"model":"public"}'
    expect(JSON.parse(relayed(disordered, { inputs: 3 })).data).toStrictEqual(
      [1, 2, 3].map((number, index) => ({ index, embedding: [number] })),
    )
  })
})

describe('EmbeddingReplyReader: the usage of a reply', () => {
  const withUsage = (usage: string) => read(`{"data":[{"index":0,"embedding":[1]}],"usage":${usage}}`)

  it.each([
    ['{"prompt_tokens":7,"total_tokens":7}', 7],
    ['{"prompt_tokens":7.0}', 7],
    ['{"total_tokens":9}', 9],
    ['{"prompt_tokens":0,"total_tokens":9}', 9],
    ['{"prompt_tokens":"7","total_tokens":null}', 0],
    ['{"prompt_tokens":-7}', 0],
    ['{"prompt_tokens":1.5}', 0],
    ['{"prompt_tokens":1e309}', 0],
    ['{"prompt_tokens":1e99}', 1e99],
    ['{"prompt_tokens":0,"total_tokens":0}', 0],
    ['{}', 0],
    ['[]', 0],
    ['null', 0],
  ])('%s is %p tokens', (usage, promptTokens) => {
    expect(withUsage(usage)).toMatchObject({ promptTokens })
  })

  it('is unknown where there is none', () => {
    expect(read(list(entry(0, '[1]')))).toMatchObject({ promptTokens: 0 })
  })
})

describe('EmbeddingReplyReader fails a reply', () => {
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

  it('or relays it as valid JSON, whatever comes', () => {
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

  it('in linear time, whatever its nesting and its escapes', () => {
    const deep = '['.repeat(500_000)
    const escapes = '\\\\'.repeat(500_000)
    expect(read(`{"a":${deep}`)).toMatchObject({ kind: 'unusable' })
    expect(read(`{"a":"${escapes}`)).toMatchObject({ kind: 'unusable' })
    expect(read(`{"a":"${'\\"'.repeat(500_000)}`)).toMatchObject({ kind: 'unusable' })
  })
})

type Asked = { publicModel?: string; inputs?: number; encodingFormat?: EncodingFormat }

/** What becomes of an answer: the text for the client and the tokens, or why it is unusable. */
function read(text: string, { publicModel = 'public', inputs = 1, encodingFormat = 'float' }: Asked = {}) {
  const reader = new EmbeddingReplyReader({ ...rulesOf(publicModel), inputs, encodingFormat })
  pushInPieces(reader, Buffer.from(text))
  const answer = reader.end()
  if (answer.kind === 'error') {
    throw new TypeError('an embedding reports no errors')
  }
  if (answer.kind === 'unusable') {
    return answer
  }
  return { text: Buffer.concat(answer.relayed(undefined)).toString(), promptTokens: answer.usage }
}

/** The text of the answer that goes to the client. */
function relayed(text: string, asked: Asked = {}): string {
  const answer = read(text, asked)
  if ('kind' in answer) {
    throw new Error(answer.reason)
  }
  return answer.text
}

function entry(index: number, embedding: string): string {
  return `{"object":"embedding","index":${index},"embedding":${embedding}}`
}

function list(...entries: string[]): string {
  return `{"object":"list","data":[${entries.join(',')}],"model":"public"}`
}
