import { describe, expect, it } from '@jest/globals'
import {
  decimalText,
  errorMeaning,
  errorReason,
  fieldAt,
  firstDecimal,
  isKeyRefused,
  isUnknownTask,
  parseJson,
  readUpstreamError,
  taskIdText,
  upstreamWords,
} from '#core/providers/reply-reading.ts'

describe('fieldAt', () => {
  it('reads own members only', () => {
    expect(fieldAt(parseJson('{"a":[{"b":1}]}'), 'a', 0, 'b')).toBe(1)
    expect(fieldAt({}, 'constructor')).toBeUndefined()
    expect(fieldAt(parseJson('{"__proto__":{"url":"x"}}'), 'url')).toBeUndefined()
    expect(fieldAt([1], 'length')).toBeUndefined()
    expect(fieldAt('text', 0)).toBeUndefined()
  })
})

describe('decimalText', () => {
  it.each([
    [5, '5'],
    [0, '0'],
    [13.24, '13.24'],
    ['5.0', '5.0'],
    ['007', '007'],
    [0.1 + 0.2, '0.3'],
    [13.239999999999998, '13.24'],
    [5 / 3, '1.666666667'],
    ['9.99999999999', '10'],
  ])('reads %j as %j', (value, text) => {
    expect(decimalText(value)).toBe(text)
  })

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e21,
    1e-7,
    '',
    ' 5',
    '5s',
    '1e3',
    '+5',
    '٣',
    null,
    true,
    [5],
    {},
  ])('is undefined for %p', (value) => {
    expect(decimalText(value)).toBeUndefined()
  })

  it('prefers a number above zero', () => {
    expect(firstDecimal([undefined, 0, '3', 4])).toBe('3')
    expect(firstDecimal([null, '0', 0])).toBe('0')
    expect(firstDecimal([])).toBeUndefined()
  })
})

describe('taskIdText', () => {
  it('takes what can be put into a path again', () => {
    expect(taskIdText('cgt-2026_a/b?c')).toBe('cgt-2026_a/b?c')
    expect(taskIdText(7)).toBe('7')
  })

  it.each(['', '.', '..', 'a b', 'a\n', '\ud800', 'x'.repeat(257), 2 ** 60, 1.5, null, {}, []])(
    'refuses %j',
    (value) => {
      expect(taskIdText(value)).toBeUndefined()
    },
  )
})

const NONE = { code: undefined, type: undefined, message: undefined }

describe('readUpstreamError', () => {
  it.each([
    ['a flat error', { code: 'Throttling', message: 'slow down' }, { code: 'Throttling', message: 'slow down' }],
    ['an error object', { error: { code: 'X', type: 't', message: 'm' } }, { code: 'X', type: 't', message: 'm' }],
    ['an error that is a string', { error: 'words' }, { message: 'words' }],
    ['a numeric code', { code: 429, message: 'm' }, { code: '429', message: 'm' }],
    ['a code of success', { code: 'success', message: 'ok' }, { message: 'ok' }],
    ['no object', '<html>', {}],
  ])('reads %s', (_, body, expected) => {
    expect(readUpstreamError(body)).toEqual({ ...NONE, ...expected })
  })
})

describe('errorMeaning', () => {
  it.each([
    ['DataInspectionFailed', 'content_policy'],
    ['Arrearage', 'channel'],
    ['Throttling.AllocationQuota', 'channel'],
    ['InvalidApiKey', 'channel'],
    ['ModelNotFound', 'channel'],
    ['Throttling.RateQuota', 'busy'],
    ['InvalidParameter', 'request'],
    ['SomethingElse', undefined],
  ])('takes %s for %s', (code, meaning) => {
    expect(errorMeaning({ ...NONE, code })).toBe(meaning)
  })

  it('takes a message about an empty account for the channel, whatever a request code says', () => {
    expect(errorMeaning({ ...NONE, code: 'invalid_request', message: 'Insufficient balance' })).toBe('channel')
  })
})

describe('isKeyRefused', () => {
  it.each([
    [401, undefined, true],
    [403, 'AccessDenied', true],
    [403, 'DataInspectionFailed', false],
    [400, 'InvalidApiKey', true],
    [400, 'InvalidParameter', false],
    [408, 'InvalidApiKey', false],
    [429, 'InvalidApiKey', false],
    [500, 'InvalidApiKey', false],
  ])('%i %s: %s', (status, code, expected) => {
    expect(isKeyRefused(status, { ...NONE, code })).toBe(expected)
  })
})

describe('isUnknownTask', () => {
  it.each([
    ['task_not_exist', true],
    ['TaskNotFound', true],
    ['ResourceNotFound', true],
    ['ModelNotFound', false],
    [undefined, false],
  ])('%s: %s', (code, expected) => {
    expect(isUnknownTask({ ...NONE, code })).toBe(expected)
  })
})

describe('the words of an upstream', () => {
  it('are cut to a bound and well formed', () => {
    expect(upstreamWords([' ', undefined, `${'x'.repeat(1_999)}😀`])).toBe(`${'x'.repeat(1_999)}\ufffd`)
  })

  it('never reach a log as the code of an error, which must look like a name', () => {
    expect(errorReason(400, { ...NONE, code: 'a cat on a roof' })).toBe('HTTP 400')
    expect(errorReason(429, { ...NONE, code: 'Throttling.RateQuota' })).toBe('HTTP 429 Throttling.RateQuota')
    expect(errorReason(401, { ...NONE, code: '401' })).toBe('HTTP 401')
  })
})
