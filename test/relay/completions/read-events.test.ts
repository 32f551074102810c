import { describe, expect, it } from 'vitest'
import { DONE, FINISH, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { startCompletion } from './faked-completion.ts'

/** Streams one completion, whose upstream ends its connection well after these bytes. */
async function streamOf(...bytes: readonly string[]) {
  const run = startCompletion({ prompt: 'a', stream: true })
  await run.settle()
  run.callFor('a').answer()
  run.callFor('a').body.end(...bytes)
  expect(await run.over).toStrictEqual({ error: undefined })
  return { text: run.answer.text, resolved: run.resolved, reports: run.callFor('a').reports }
}

describe('an upstream that ends its stream inside an event', () => {
  it.each(['data: {"choices":[],"usa', 'data: [DO'])(
    'has broken off, although every finish reason has come: %j',
    async (half) => {
      const { text, resolved, reports } = await streamOf(word('Hi'), FINISH, half)
      expect(text).toContain('"code":"upstream_error"')
      expect(text).not.toContain('[DONE]')
      // What was generated, and not all that was reserved.
      const generated = await streamOf(word('Hi'))
      expect(resolved).toStrictEqual(generated.resolved)
      expect(reports).toContain('failed')
    },
  )
})

describe('a stream whose last event lacks its blank line', () => {
  it.each([USAGE_CHUNK.trimEnd(), `${USAGE_CHUNK}${DONE.trimEnd()}`])('is whole: %j', async (last) => {
    const { text, resolved } = await streamOf(word('Hi'), FINISH, last)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(resolved).toMatchObject([{ kind: 'settle', estimated: false }])
  })
})
