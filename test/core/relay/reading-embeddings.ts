import { expect } from 'vitest'
import type { EncodingFormat } from '#core/api/embedding-request.ts'
import { readEmbeddingReply } from '#core/relay/embedding-reply.ts'
import { rulesOf } from './reply-rules.ts'

type Asked = { publicModel?: string; inputs?: number; encodingFormat?: EncodingFormat }

/** What becomes of an answer: the text for the client and the tokens, or why it is unusable. */
export function read(text: string, { publicModel = 'public', inputs = 1, encodingFormat = 'float' }: Asked = {}) {
  const answer = readEmbeddingReply(Buffer.from(text), { ...rulesOf(publicModel), inputs, encodingFormat })
  if (answer.kind === 'unusable') {
    return answer
  }
  const { pieces, byteLength } = answer.relayed(undefined)
  const relayed = Buffer.concat(pieces)
  expect(relayed).toHaveLength(byteLength)
  return { text: relayed.toString(), promptTokens: answer.promptTokens }
}

/** The text of the answer that goes to the client. */
export function relayed(text: string, asked: Asked = {}): string {
  const answer = read(text, asked)
  if ('kind' in answer) {
    throw new Error(answer.reason)
  }
  return answer.text
}

export const entry = (index: number, embedding: string) =>
  `{"object":"embedding","index":${index},"embedding":${embedding}}`
export const list = (...entries: string[]) => `{"object":"list","data":[${entries.join(',')}],"model":"public"}`
