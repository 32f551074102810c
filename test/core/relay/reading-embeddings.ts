import type { EncodingFormat } from '#core/api/embedding-request.ts'
import { EmbeddingReplyReader } from '#core/relay/embedding-reply.ts'
import { pushInPieces, rulesOf } from './reply-rules.ts'

type Asked = { publicModel?: string; inputs?: number; encodingFormat?: EncodingFormat }

/** What becomes of an answer: the text for the client and the tokens, or why it is unusable. */
export function read(text: string, { publicModel = 'public', inputs = 1, encodingFormat = 'float' }: Asked = {}) {
  const reader = new EmbeddingReplyReader({ ...rulesOf(publicModel), inputs, encodingFormat })
  pushInPieces(reader, Buffer.from(text))
  const answer = reader.end()
  if (answer.kind === 'unusable') {
    return answer
  }
  return { text: Buffer.concat(answer.relayed(undefined)).toString(), promptTokens: answer.promptTokens }
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
