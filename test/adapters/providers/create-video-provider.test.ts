import { describe, expect, it } from '@jest/globals'
import { p1Channel, p2Channel } from './provider-samples.ts'
import { replay } from './replay.ts'

describe('createVideoProvider', () => {
  it.each([
    ['p1', p1Channel, '/api/v1/tasks/t'],
    ['p2 direct', (url: string) => p2Channel(url, 'direct'), '/api/v3/contents/generations/tasks/t'],
    ['p2 international', (url: string) => p2Channel(url, 'international'), '/api/v3/contents/generations/tasks/t'],
    ['p2 proxy', (url: string) => p2Channel(url, 'proxy'), '/v1/video/generations/t'],
  ])('speaks the wire of %s below the base url', async (_, channel, path) => {
    const { requests } = await replay({
      channel: (url) => channel(`${url}/base`),
      fixtures: [],
      act: (provider) => provider.poll('t'),
    })
    expect(requests.map((request) => request.path)).toEqual([`/base${path}`])
  })
})
