import { describe, expect, it } from 'vitest'
import {
  errorMeaning,
  errorReason,
  isKeyRefused,
  isUnknownTask,
  readUpstreamError,
  upstreamWords,
} from '#adapters/providers/video/upstream-error.ts'

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
  })
})
