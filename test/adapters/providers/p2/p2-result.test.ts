import { describe, expect, it } from 'vitest'
import { readP2Result } from '#adapters/providers/p2/p2-result.ts'

const read = (body: unknown) => readP2Result(JSON.stringify(body))

describe('readP2Result', () => {
  const url = 'https://v.example.test/1.mp4'

  it.each([
    { content: { video_url: url } },
    { video_url: url },
    { data: [{ url }] },
    { data: [{ video_url: url }] },
    { url },
    { results: [url] },
    { results: [{ url }] },
    { metadata: { url } },
    { upstream_response: { content: { video_url: url } } },
    { data: { data: { content: { video_url: url } } } },
    { data: { url } },
    { video_url: '', url: 'pending', results: [null], metadata: { url } },
  ])('finds the url in %j', (body) => {
    expect(read(body).videoUrl).toBe(url)
  })

  it('prefers the outer of two urls', () => {
    expect(read({ upstream_response: { content: { video_url: 'https://far.example.test' } }, url }).videoUrl).toBe(url)
  })

  it.each([
    [{ usage: { completion_tokens: 108900 } }, '108900'],
    [{ usage: { completion_tokens: 108900.5 } }, '108900.5'],
    [{ usage: { completion_tokens: '108900' } }, '108900'],
    [{ usage: { completion_tokens: 0 }, upstream_response: { usage: { completion_tokens: 7 } } }, '7'],
    [{ usage: { completion_tokens: 0 } }, '0'],
    [{ usage: { completion_tokens: -5 } }, '-5'],
    [{ usage: { completion_tokens: 'many' } }, 'many'],
    [{ usage: { completion_tokens: 1e30 } }, '1e+30'],
    [{ usage: [108900] }, undefined],
    [{ metadata: { usage: { completion_tokens: 3 } } }, '3'],
    [{ data: { data: { usage: { completion_tokens: 4 } } } }, '4'],
  ])('reads the tokens of %j', (body, tokens) => {
    expect(read(body).completionTokens).toBe(tokens)
  })

  it.each([
    [{ duration: 5 }, '5'],
    [{ duration: '5.04' }, '5.04'],
    [{ duration: 13.239999999999998 }, '13.24'],
    [{ duration: -1, frames: 120 }, '5'],
    [{ frames: '121' }, '5.041667'],
    [{ metadata: { duration: 6 } }, '6'],
    [{ upstream_response: { duration: 7 } }, '7'],
    [{}, undefined],
  ])('reads the seconds of %j', (body, seconds) => {
    expect(read(body)).toMatchObject({ billableSeconds: seconds, outputSeconds: seconds })
  })

  it('shows settlement a length that cannot be, and never serves it', () => {
    expect(read({ duration: 'long' })).toMatchObject({ billableSeconds: 'long', outputSeconds: undefined })
  })

  it('leaves a resolution that has no price tier open', () => {
    expect(read({ resolution: '4k' }).resolution).toBeUndefined()
  })
})
