import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CompletionStream } from '#core/relay/completion-stream.ts'
import { DONE, finish, piece, usage } from './chat-chunks.ts'
import { completionRequest, FALLBACK } from './completing.ts'
import { chunksOf, textsOf } from './completion-chunks.ts'

function newStream(members: object = {}): CompletionStream {
  return new CompletionStream(completionRequest({ stream: true, ...members }), FALLBACK)
}

describe('CompletionStream, whatever comes between the events of a prompt', () => {
  /** Any text, cut anywhere, also inside of a surrogate pair. */
  const content = fc.array(fc.string({ unit: 'binary', maxLength: 4 }), { maxLength: 4 })
  const completion = fc.record({ pieces: content, reason: fc.constantFrom('stop', 'length', 'content_filter') })

  const plan = fc.integer({ min: 1, max: 3 }).chain((n) =>
    fc.record({
      n: fc.constant(n),
      echo: fc.boolean(),
      suffix: fc.constantFrom('', ' END'),
      prompts: fc.array(
        fc.record({
          prompt: fc.string(),
          completions: fc.array(completion, { minLength: n, maxLength: n }),
          // A usage of zeros beside a text is not believed.
          tokens: fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.nat(1000)),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      seed: fc.infiniteStream(fc.nat(1_000_000)),
    }),
  )

  it('has per index the text of an answer in one piece, and the usage is the sum', () => {
    fc.assert(
      fc.property(plan, ({ n, echo, suffix, prompts, seed }) => {
        const choose = (count: number) => Number(seed.next().value) % count
        const stream = newStream({
          prompt: prompts.map(({ prompt }) => prompt),
          n,
          echo,
          suffix,
          stream_options: { include_usage: true },
        })
        const queues = prompts.map(({ completions, tokens }) => {
          const own = completions.map(({ pieces, reason }, k) => [
            ...pieces.map((text) => piece(text, k)),
            finish(k, reason),
          ])
          return [...interleave(own, choose), usage(...tokens), DONE]
        })
        let sent = ''
        const tagged = queues.map((payloads, promptIndex) => payloads.map((payload) => ({ promptIndex, payload })))
        for (const { promptIndex, payload } of interleave(tagged, choose)) {
          sent += stream.push(promptIndex, payload)
          if (payload === DONE) {
            expect(stream.endCall(promptIndex)).toStrictEqual({ text: '', missing: 0 })
          }
        }
        sent += stream.finish(undefined)
        const expected = prompts.flatMap(({ prompt, completions }, i) =>
          completions.map(({ pieces, reason }, k) => {
            return [i * n + k, { text: (echo ? prompt : '') + pieces.join('') + suffix, reason }] as const
          }),
        )
        expect(textsOf(sent)).toStrictEqual(new Map(expected))
        const [prompt_tokens, completion_tokens] = [0, 1].map((place) =>
          prompts.reduce((sum, { tokens }) => sum + (tokens[place] ?? 0), 0),
        )
        expect(chunksOf(sent).at(-1)?.usage).toMatchObject({ prompt_tokens, completion_tokens })
        expect(sent.split('data: [DONE]')).toHaveLength(2)
      }),
      { numRuns: 150 },
    )
  })
})

/** Takes from any of the lists as long as one has something left; each keeps its order. */
function interleave<Value>(lists: readonly (readonly Value[])[], choose: (count: number) => number): Value[] {
  const rests = lists.map((list) => [...list])
  const merged: Value[] = []
  for (;;) {
    const filled = rests.filter(({ length }) => length > 0)
    const next = filled.length === 0 ? undefined : filled[choose(filled.length)]?.shift()
    if (next === undefined) {
      return merged
    }
    merged.push(next)
  }
}
