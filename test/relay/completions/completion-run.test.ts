import { describe, expect, it } from 'vitest'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { CallCutError } from '#lambdas/relay/completions/completion-run.ts'
import { ReplyTooLargeError } from '#lambdas/relay/large-reply.ts'

const cut = (members: { readonly usage?: unknown; readonly entries?: number }) =>
  CallCutError.ofLarge(
    new ReplyTooLargeError({ usage: undefined, entries: 1, bytes: 17_000_000, end: 'cut', ...members }),
  )

describe('CallCutError.ofLarge', () => {
  it('keeps the usage that the reply reported', () => {
    const { usage } = cut({ usage: { prompt_tokens: 9, completion_tokens: 3 } })
    expect(usage).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
  })

  it.each([[undefined], ['many'], [{ prompt_tokens: -1 }]])('believes no usage of %j', (usage) => {
    expect(cut({ usage }).usage).toBeUndefined()
  })

  it('is worthless where the reply has no choice', () => {
    expect([cut({ entries: 0 }).isWorthless, cut({}).isWorthless]).toStrictEqual([true, false])
  })
})
