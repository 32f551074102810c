import { describe, expect, it } from 'vitest'
import { parseMagicPrompt } from '../../../lib/simulators/shared/magic-prompt.ts'
import { delayed, SubmitTricks } from '../../../lib/simulators/shared/submit-tricks.ts'

const json = (status: number, body: unknown) => ({ kind: 'json' as const, status, body })

function tricks() {
  const made = new SubmitTricks({
    refused: (refusal) => json(400, refusal),
    failed: (status) => json(status, 'failed'),
  })
  return (prompt: string) => made.answer(prompt, parseMagicPrompt(prompt))
}

describe('submit-tricks', () => {
  it.each([
    ['a cat', undefined],
    ['[hang]', { kind: 'hang' }],
    ['[reset]', { kind: 'reset' }],
    ['[error:503]', json(503, 'failed')],
    ['[refuse]', json(400, 'refuse')],
    ['[busy:always]', json(400, 'busy:always')],
  ])('answer %s with %j', (prompt, expected) => {
    const answer = tricks()
    expect([answer(prompt), answer(prompt)]).toEqual([expected, expected])
  })

  it('refuse a [busy] prompt the first time only', () => {
    const answer = tricks()
    expect([answer('[busy] a'), answer('[busy] b'), answer('[busy] a')]).toEqual([
      json(400, 'busy'),
      json(400, 'busy'),
      undefined,
    ])
  })

  it('hold an accepted submit back for [late:SECONDS]', () => {
    expect(delayed(json(200, 'ok'), parseMagicPrompt('[late:2]'))).toEqual({ ...json(200, 'ok'), delaySeconds: 2 })
    expect(delayed(json(200, 'ok'), parseMagicPrompt('a cat'))).toEqual(json(200, 'ok'))
  })
})
