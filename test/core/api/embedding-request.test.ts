import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { INPUTS_MAX, parseEmbeddingRequest } from '#core/api/embedding-request.ts'
import { InvalidRequestError, ModelNotFoundError } from '#core/errors.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

const INPUT_MESSAGE = '`input` must be a string, an array of strings, an array of token ids or an array of such arrays'

const MODEL = 'text-embedding-3-small'

function parse(body: unknown, allowedModels: readonly string[] | null = null) {
  return parseEmbeddingRequest(body, { catalogue: shippedCatalogue, allowedModels })
}

const withInput = (input: unknown) => parse({ model: MODEL, input })
const refusalOf = (body: unknown) => issuesOf(() => parse(body))[0]

describe('parseEmbeddingRequest', () => {
  it('reads floats as the format unless the client asks for base64', () => {
    const request = withInput('a')
    expect(request).toStrictEqual({
      model: shippedCatalogue.findRelayModel(MODEL, { kind: 'embedding', allowed: null }),
      inputs: { kind: 'texts', texts: ['a'] },
      encodingFormat: 'float',
    })
    expect(parse({ model: MODEL, input: 'a', encoding_format: 'base64' }).encodingFormat).toBe('base64')
  })

  it.each([
    ['a text', 'a', { kind: 'texts', texts: ['a'] }],
    ['white space alone, which has tokens', ' ', { kind: 'texts', texts: [' '] }],
    ['texts', ['a', 'b'], { kind: 'texts', texts: ['a', 'b'] }],
    ['token ids, which are one input', [0, 100_257, 5], { kind: 'tokens', counts: [3] }],
    ['lists of token ids', [[1, 2], [3]], { kind: 'tokens', counts: [2, 1] }],
    ['a list of one list', [[1]], { kind: 'tokens', counts: [1] }],
  ])('takes %s', (_, input, inputs) => {
    expect(withInput(input).inputs).toStrictEqual(inputs)
  })

  it.each([
    ['no input', undefined, INPUT_MESSAGE.replace('must be', 'is required and must be')],
    ['null', null, INPUT_MESSAGE],
    ['a number', 5, INPUT_MESSAGE],
    ['an object', { text: 'a' }, INPUT_MESSAGE],
    ['objects', [{ text: 'a' }], INPUT_MESSAGE],
    ['an empty text', '', '`input` must not be empty'],
    ['an empty list', [], '`input` must not be an empty array'],
    ['an empty text among others', ['a', ''], '`input[1]` must not be empty'],
    ['a number among texts', ['a', 1], '`input[1]` must be a string, because `input[0]` is one'],
    ['null among texts', ['a', null], '`input[1]` must be a string, because `input[0]` is one'],
    ['no token ids', [[1], []], '`input[1]` must not be empty'],
    ['no token ids at all', [[]], '`input[0]` must not be empty'],
    ['a negative token id', [1, -1], '`input[0]` must be an array of token ids, which are integers of 0 or more'],
    ['half a token id', [1.5], '`input[0]` must be an array of token ids, which are integers of 0 or more'],
    ['a text among token ids', [1, 'a'], '`input[0]` must be an array of token ids, which are integers of 0 or more'],
    ['a text among lists', [[1], 'a'], '`input[1]` must be an array of token ids, which are integers of 0 or more'],
    ['lists too deep', [[[1]]], '`input[0]` must be an array of token ids, which are integers of 0 or more'],
  ])('does not take %s', (_, input, message) => {
    expect(issuesOf(() => withInput(input))).toStrictEqual([{ path: 'input', message }])
  })

  it('takes as many inputs as the wire does, and no more', () => {
    const message = '`input` must hold at most 2048 strings or arrays of token ids'
    for (const input of ['a', [1]]) {
      expect(() => withInput(Array(INPUTS_MAX).fill(input))).not.toThrow()
      const tooMany = Array(INPUTS_MAX + 1).fill(input)
      expect(issuesOf(() => withInput(tooMany))).toStrictEqual([{ path: 'input', message }])
    }
  })

  it('counts the tokens of a long list without an issue for each', () => {
    expect(withInput(Array(100_000).fill(7)).inputs).toStrictEqual({ kind: 'tokens', counts: [100_000] })
    expect(issuesOf(() => withInput(Array(100_000).fill(-7)))).toHaveLength(1)
  })

  it('leaves fields that it does not know to the upstream', () => {
    expect(() => parse({ model: MODEL, input: 'a', user: 'u', truncate: 'END', extra: { deep: [1] } })).not.toThrow()
  })

  it('takes null for what is not set', () => {
    const request = parse({ model: MODEL, input: 'a', encoding_format: null, dimensions: null, user: null })
    expect(request).toStrictEqual(withInput('a'))
  })

  it.each([
    [{ encoding_format: 'int8' }, 'encoding_format', '`encoding_format` must be float or base64'],
    [{ dimensions: '4' }, 'dimensions', '`dimensions` must be an integer of 1 or more'],
    [{ dimensions: 0 }, 'dimensions', '`dimensions` must be an integer of 1 or more'],
    [{ dimensions: 1.5 }, 'dimensions', '`dimensions` must be an integer of 1 or more'],
    [{ dimensions: 1537 }, 'dimensions', '`dimensions` must be from 1 to 1536 for text-embedding-3-small'],
    [{ user: 5 }, 'user', '`user` must be a string'],
    [{ model: 5 }, 'model', '`model` must be a string: the id of an embedding model'],
    [{ model: undefined }, 'model', '`model` is required and must be a string: the id of an embedding model'],
  ])('refuses %j with the field that needs mending', (members, path, message) => {
    expect(refusalOf({ model: MODEL, input: 'a', ...members })).toStrictEqual({ path, message })
  })

  it.each([1, 4, 1536])('takes %d dimensions where the model has a choice', (dimensions) => {
    expect(parse({ model: MODEL, input: 'a', dimensions }).dimensions).toBe(dimensions)
  })

  it('refuses any dimensions where the model has none to choose', () => {
    const message = '`dimensions` must be left out for text-embedding-ada-002, which always returns 1536 dimensions'
    const body = { model: 'text-embedding-ada-002', input: 'a', dimensions: 1536 }
    expect(refusalOf(body)).toStrictEqual({ path: 'dimensions', message })
  })

  it.each([[], null, 'text', 5].map((body) => [body]))('refuses %j, which is no object', (body) => {
    expect(refusalOf(body)).toStrictEqual({ path: '', message: 'the body must be a JSON object' })
  })
})

describe('parseEmbeddingRequest, asked for a model that is', () => {
  it.each([
    ['unknown', 'text-embedding-9', null],
    ['not allowed', MODEL, ['text-embedding-3-large']],
    ['of another kind', 'image-v2', null],
    ['a name of every object', 'constructor', null],
  ])('%s is not found', (_, model, allowed) => {
    expect(() => parse({ model, input: 'a' }, allowed)).toThrow(ModelNotFoundError)
  })

  it('of another kind is told its route, if the key may use it', () => {
    const ask = (allowed: readonly string[] | null) => () => parse({ model: 'image-v2', input: 'a' }, allowed)
    expect(ask(null)).toThrow('the model image-v2 is of the kind image: use POST /v1/images/generations')
    expect(ask([MODEL])).toThrow('does not exist or this api key may not use it')
  })

  it('written wrongly is told the nearest one that the key may use', () => {
    const ask = (allowed: readonly string[] | null) => () =>
      parse({ model: 'text-embedding-3-smal', input: 'a' }, allowed)
    expect(ask(null)).toThrow('or this api key may not use it: did you mean text-embedding-3-small?')
    expect(ask(['text-embedding-ada-002'])).toThrow(/may not use it$/)
  })

  it('allowed is found', () => {
    expect(parse({ model: MODEL, input: 'a' }, [MODEL]).model.id).toBe(MODEL)
  })
})

describe('parseEmbeddingRequest, whatever is sent', () => {
  const anything = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), fc.string(), fc.nat())))

  it('takes or refuses it, and never repeats an input in a refusal', () => {
    const secret = 'sk-secret-input'
    fc.assert(
      fc.property(anything, anything, (input, other) => {
        const body = { model: MODEL, input: [input, secret, ''], encoding_format: other, dimensions: secret }
        for (const each of [withInputOf(input), body, input]) {
          try {
            parse(each)
          } catch (error) {
            expect(error instanceof InvalidRequestError || error instanceof ModelNotFoundError).toBe(true)
            expect(JSON.stringify(error instanceof InvalidRequestError ? error.issues : [])).not.toContain(secret)
          }
        }
      }),
    )
  })
})

function withInputOf(input: unknown) {
  return { model: MODEL, input }
}
