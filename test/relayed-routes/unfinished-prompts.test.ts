import type { ServerResponse } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { CHAT, openStream, startRelayRig, word } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

/** Prices are 1,000 and 2,000 credits per million: a token in is 1,000 millionths, one out is 2,000. */
const CREDIT = 1_000n
const WORD = 2n * CREDIT
const CONTEXT = 8192
/** What an image counts, and the syntax of a part around its url, at most. */
const IMAGE = 1500
const SYNTAX = 60

const rig = useOpened(() =>
  startRelayRig({ chat: { input_modalities: ['text', 'image', 'file'], image_tokens: IMAGE } }),
)

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const urlImages = Array.from({ length: 5 }, (_, index) => image(`https://images.example.com/${index}.png`))
const base64Image = image(`data:image/png;base64,${'A'.repeat(40_000)}`)
const file = { type: 'file', file: { file_id: 'file-1' } }

/** Both send one token and no usage; the first breaks off, the second waits until nobody reads any more. */
const ENDS = [
  ['that breaks off', (response: ServerResponse) => cutAfterWord(response, 30), {}],
  ['that is left by its client', (response: ServerResponse) => cutAfterWord(response, 300), { leavesAfterBytes: 1 }],
] as const

function cutAfterWord(response: ServerResponse, milliseconds: number): void {
  openStream(response).write(word('Hi'), () => setTimeout(() => response.destroy(), milliseconds))
}

const CONTENTS = [
  ['five images by url', urlImages, 5 * IMAGE, 5 * (IMAGE + SYNTAX)],
  ['an image in base64', [base64Image], IMAGE, IMAGE + SYNTAX],
  ['a file', [file], CONTEXT, CONTEXT],
  ['an image and a file', [base64Image, file], CONTEXT + IMAGE, CONTEXT + IMAGE],
  ['a text', [{ type: 'text', text: 'a'.repeat(4_000) }], 1_000, 1_000 + SYNTAX],
] as const

describe.each(ENDS)('a stream %s', (_, breakOff, client) => {
  it.each(CONTENTS)(
    'is billed by the tokens of its prompt, not the bytes (%s)',
    async (_name, content, least, most) => {
      const { id, key } = await rig.tenant('1000')
      rig.upstreams[0]?.answerWith(breakOff)
      const body = { model: CHAT, stream: true, max_tokens: 10, messages: [{ role: 'user', content }] }
      await rig.send(body, { key, client })
      const [settled] = await rig.rows(id)
      expect(settled?.kind).toBe('settle')
      expect(settled?.actual).toBeGreaterThanOrEqual(BigInt(least) * CREDIT + WORD)
      expect(settled?.actual).toBeLessThanOrEqual(BigInt(most) * CREDIT + WORD)
      expect(settled?.actual).toBeLessThanOrEqual(settled?.amount ?? 0n)
    },
  )
})
