import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { p1PollOutcome } from '#adapters/providers/p1/p1-reading.ts'
import { p2PollOutcome } from '#adapters/providers/p2/p2-reading.ts'
import { readVideoResult } from '#adapters/providers/read-video-result.ts'

describe('readVideoResult', () => {
  const text = JSON.stringify({
    output: { video_url: 'https://p1.example/v' },
    content: { video_url: 'https://p2.example/v' },
  })

  it.each([
    ['p1', 'https://p1.example/v'],
    ['p2', 'https://p2.example/v'],
  ] as const)('reads a reply of %s by the wire contract of that provider', (provider, videoUrl) => {
    expect(readVideoResult(provider, text).videoUrl).toBe(videoUrl)
  })

  it('never throws for any JSON', () => {
    const names = ['status', 'data', 'error', 'usage', 'output', 'task_status', 'content', 'metadata', 'duration', 'SR']
    const key = fc.oneof(fc.constantFrom(...names), fc.constant('__proto__'), fc.string())
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.constantFrom('succeeded', 'SUCCEEDED', 'FAILED', 'failed'), fc.jsonValue({ maxDepth: 1 })),
        fc.dictionary(key, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        const text = JSON.stringify(value)
        for (const provider of ['p1', 'p2'] as const) {
          expect(readVideoResult(provider, text)).toHaveProperty('videoUrl')
        }
        for (const poll of [p1PollOutcome, p2PollOutcome]) {
          expect(['running', 'succeeded', 'failed', 'gone', 'unavailable']).toContain(
            poll({ kind: 'response', status: 200, headers: {}, text }).kind,
          )
        }
      }),
    )
  })
})
