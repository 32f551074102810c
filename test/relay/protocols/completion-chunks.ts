import * as z from 'zod'

const completionChunk = z.looseObject({
  id: z.string(),
  created: z.number(),
  choices: z.array(
    z.object({ text: z.string(), index: z.number(), logprobs: z.null(), finish_reason: z.string().nullable() }),
  ),
  usage: z.unknown().optional(),
})

/** The data of each event of a well-formed stream; comments are left out. */
export function payloadsOf(stream: string): string[] {
  return stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length))
}

/** The chunks of a stream of legacy completions, `[DONE]` left out. */
export function chunksOf(stream: string) {
  return payloadsOf(stream)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => completionChunk.parse(JSON.parse(payload)))
}

/** What a client makes of a stream: the text of each index, and how it finished. Nothing may follow a finish reason. */
export function textsOf(stream: string): Map<number, { text: string; reason: string | null }> {
  const texts = new Map<number, { text: string; reason: string | null }>()
  for (const { text, index, finish_reason } of chunksOf(stream).flatMap(({ choices }) => choices)) {
    const before = texts.get(index) ?? { text: '', reason: null }
    if (before.reason !== null) {
      throw new RangeError(`index ${index} goes on after its finish reason`)
    }
    texts.set(index, { text: before.text + text, reason: finish_reason })
  }
  return new Map([...texts].toSorted(([left], [right]) => left - right))
}
