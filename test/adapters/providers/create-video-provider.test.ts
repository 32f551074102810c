import { describe, expect, it } from 'vitest'
import { createVideoProvider } from '#adapters/providers/create-video-provider.ts'
import type { UpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import { p1Channel, p2Channel } from './provider-samples.ts'
import { ANY_SUBMIT, replay } from './replay.ts'

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

  it.each([
    ['p1', p1Channel('https://up.example'), { code: 'AccessDenied', output: { task_id: 'task-1' } }],
    ['p2 direct', p2Channel('https://up.example', 'direct'), { error: { code: 'AccessDenied' }, id: 'task-1' }],
    ['p2 proxy', p2Channel('https://up.example', 'proxy'), { code: 'AccessDenied', data: { task_id: 'task-1' } }],
  ])(
    'never submits to %s again, with a new key, what was refused beside the id of a task',
    async (_, channel, body) => {
      const sent: unknown[] = []
      const http: UpstreamHttp = {
        send: async (request) => {
          sent.push(request)
          return { kind: 'response', status: 403, headers: {}, text: JSON.stringify(body) }
        },
        close() {},
      }
      const keys = { credential: async () => 'old', renewedCredential: async () => 'new' }
      await createVideoProvider(channel, { ...keys, http }).submit(ANY_SUBMIT)
      expect(sent).toHaveLength(1)
      await createVideoProvider(channel, { ...keys, http }).poll('task-1')
      expect(sent).toHaveLength(3)
    },
  )
})
