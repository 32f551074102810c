import { describe, expect, it } from 'vitest'
import type { ProxyShape } from '../../../lib/simulators/shared/behaviour.ts'
import { proxyBody, withProxy } from '../p2/p2-client.ts'
import { at, call } from '../shared/simulator-client.ts'

describe('the other shapes of the proxy', () => {
  const LIFE: readonly [ProxyShape, readonly (string | number)[], readonly string[], readonly (string | number)[]][] = [
    ['unified', ['status'], ['pending', 'processing', 'completed'], ['results', 0]],
    ['wrapped', ['data', 'status'], ['NOT_START', 'IN_PROGRESS', 'SUCCESS'], ['data', 'data', 'content', 'video_url']],
    ['creator', ['status'], ['queued', 'running', 'completed'], ['data', 0, 'video_url']],
    ['raw', ['status'], ['queued', 'running', 'succeeded'], ['content', 'video_url']],
  ]

  it.each(LIFE)('%s goes through its own words to its own url', async (shape, statusPath, words, urlPath) => {
    await withProxy({ behaviour: { shape } }, async ({ start, poll, clock, simulator }) => {
      const taskId = await start(proxyBody('a cat'))
      const seen = [await poll(taskId)]
      clock.advanceSeconds(1)
      seen.push(await poll(taskId))
      clock.advanceSeconds(3)
      const succeeded = await poll(taskId)
      seen.push(succeeded)
      expect(seen.map((answer) => at(answer.body, ...statusPath))).toEqual(words)
      expect((await call(simulator, String(at(succeeded.body, ...urlPath)))).status).toBe(200)
      expect(at((await call(simulator, `/v1/tasks/${taskId}`)).body, ...statusPath)).toBe(words[2])
    })
  })

  it.each([
    ['unified', ['error', 'message']],
    ['wrapped', ['data', 'fail_reason']],
    ['creator', ['error', 'message']],
    ['raw', ['error', 'message']],
  ] as const)('%s says why a task failed', async (shape, path) => {
    await withProxy({ behaviour: { shape } }, async ({ finish }) => {
      for (const prompt of ['[fail]', '[moderated]']) {
        expect(at((await finish(proxyBody(prompt))).body, ...path)).toMatch(/\w+ \w+/)
      }
    })
  })

  it.each([
    ['unified', ['status']],
    ['wrapped', ['data', 'status']],
    ['creator', ['status']],
    ['raw', ['status']],
  ] as const)('%s shows an odd status without a url', async (shape, path) => {
    await withProxy({ behaviour: { shape } }, async ({ finish }) => {
      const answer = await finish(proxyBody('[odd-status]'))
      expect(at(answer.body, ...path)).toBe('warming_up')
      expect(answer.text).not.toContain('/results/')
    })
  })

  it.each(['task', 'unified', 'wrapped', 'creator'] as const)('%s can speak in rare words', async (shape) => {
    await withProxy({ behaviour: { shape, statusWords: 'rare' } }, async ({ start, poll, clock }) => {
      const taskId = await start(proxyBody('a cat'))
      const wordOf = async () => {
        const { body } = await poll(taskId)
        return at(body, 'status') ?? at(body, 'data', 'status')
      }
      const seen = [await wordOf()]
      clock.advanceSeconds(1)
      seen.push(await wordOf())
      clock.advanceSeconds(3)
      seen.push(await wordOf())
      expect(seen).toEqual(['submitted', 'generating', 'success'])
    })
  })

  it('unified reports no tokens', async () => {
    await withProxy({ behaviour: { shape: 'unified' } }, async ({ finish }) => {
      expect((await finish(proxyBody('a cat'))).text).not.toContain('completion_tokens')
    })
  })
})
