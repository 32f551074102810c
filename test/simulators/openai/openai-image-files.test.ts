import { describe, expect, it } from 'vitest'
import { answerImageRequest, imageUrl } from '../../../lib/simulators/openai/openai-image-files.ts'

const ORIGIN = 'http://127.0.0.1:9700'
const NOW = Date.UTC(2030, 0, 1)
const HOUR = 3_600_000
const IMAGE = { seed: 7, size: { width: 64, height: 32 } }
const path = imageUrl(IMAGE, ORIGIN, NOW).slice(ORIGIN.length)

/** The status and content type of the response; undefined where it is no image request. */
function answer(pathAndQuery: string, { method = 'GET', now = NOW } = {}) {
  const found = answerImageRequest({ method, path: pathAndQuery, headers: {}, body: undefined }, ORIGIN, now)
  if (found?.kind !== 'raw') {
    return undefined
  }
  const written: unknown[] = []
  const response = {
    writeHead: (status: number, headers: Record<string, unknown>) => written.push(status, headers['content-type']),
    end: () => undefined,
  }
  found.write(response as never)
  return written
}

describe('openai-image-files', () => {
  it.each(['GET', 'HEAD'])('serves the image to %s for an hour', (method) => {
    expect(answer(path, { method })).toEqual([200, 'image/png'])
    expect(answer(path, { method, now: NOW + HOUR - 1 })).toEqual([200, 'image/png'])
    expect(answer(path, { method, now: NOW + HOUR })).toEqual([403, 'application/xml'])
  })

  it.each([
    ['another image', path.replace('7-64', '8-64')],
    ['a later end', path.replace('2030', '2031')],
    ['no signature', path.replace(/&sig=.*/, '')],
  ])('refuses a url that was changed to %s', (_, changed) => {
    expect(answer(changed)).toEqual([403, 'application/xml'])
  })

  it('refuses other methods, and leaves other paths to others', () => {
    expect(answer(path, { method: 'DELETE' })).toEqual([405, 'application/xml'])
    expect(answer('/v1/models')).toBeUndefined()
  })
})
