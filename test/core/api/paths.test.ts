import { describe, expect, it } from '@jest/globals'
import { errorShapeOf, matchPath } from '#core/api/paths.ts'

const JOB = '/v1/video/generations/{job_id}'

describe('matchPath', () => {
  it.each([
    ['/v1/video/generations', '/v1/video/generations', {}],
    [JOB, '/v1/video/generations/abc', { job_id: 'abc' }],
    [JOB, '/v1/video/generations/a%20b%2Fc', { job_id: 'a b/c' }],
    [JOB, '/v1/video/generations/%E0%A4%A', { job_id: '%E0%A4%A' }],
    [JOB, '/v1/video/generations/__proto__', { job_id: '__proto__' }],
  ])('finds %s in %s', (template, path, parameters) => {
    expect(matchPath(template, path)).toStrictEqual(parameters)
  })

  it.each([
    ['/v1/video/generations', '/v1/video/generations/'],
    ['/v1/video/generations', '/v1/video/Generations'],
    ['/v1/video/generations', 'v1/video/generations'],
    ['/v1/video/generations', '//v1/video/generations'],
    [JOB, '/v1/video/generations'],
    [JOB, '/v1/video/generations/'],
    [JOB, '/v1/video/generations/a/b'],
    [JOB, '/v2/video/generations/a'],
    [JOB, ''],
  ])('does not find %s in %j', (template, path) => {
    expect(matchPath(template, path)).toBeUndefined()
  })
})

describe('errorShapeOf', () => {
  it.each(['/v1/video', '/v1/video/', '/v1/video/generations', '/v1/video/nothing/here'])('is video for %s', (path) => {
    expect(errorShapeOf(path)).toBe('video')
  })

  it.each(['/v1/messages', '/v1/messages/count_tokens', '/messages', '/v1/v1/messages'])(
    'is messages for %s',
    (path) => {
      expect(errorShapeOf(path)).toBe('messages')
    },
  )

  it.each([
    '/',
    '',
    '/v1',
    '/v1/videos',
    '/v1/models',
    '/v1/chat/completions',
    '/V1/video/generations',
    '/x/v1/video/',
  ])('is openai for %j', (path) => {
    expect(errorShapeOf(path)).toBe('openai')
  })
})
