import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'

/** What the next requests get. */
export type LargeReply = 'chat' | 'large chat' | 'completion' | 'embeddings' | 'images'

const MEBIBYTE = 2 ** 20

/** Just below the largest replies that are held whole: of a chat, of each prompt of a completion, and of numbers or images in base64. */
const FILL: Readonly<
  Record<
    LargeReply,
    { readonly head: string; readonly fill: string; readonly mebibytes: number; readonly tail: string }
  >
> = {
  chat: chatOf(0),
  'large chat': chatOf(31.5),
  completion: chatOf(15),
  embeddings: {
    head: '{"object":"list","model":"m","usage":{"prompt_tokens":5,"total_tokens":5},"data":[{"object":"embedding","index":0,"embedding":[0.5',
    fill: ',-0.012345678901234567',
    mebibytes: 158,
    tail: ']}]}',
  },
  images: {
    head: '{"created":1,"data":[{"b64_json":"',
    fill: 'iVBORw0KGgoAAAANSUhEUgAA',
    mebibytes: 158,
    tail: '"}]}',
  },
}

function chatOf(mebibytes: number) {
  return {
    head: '{"id":"c","object":"chat.completion","created":1,"model":"m","usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12},"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi',
    fill: ' there, this is a long answer',
    mebibytes,
    tail: '"}}]}',
  }
}

/** An upstream in this process that answers at once, with as much as it is told. */
export async function startLargeUpstream() {
  let reply: LargeReply = 'chat'
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => void send(response, reply))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    replyWith: (next: LargeReply) => {
      reply = next
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function send(response: ServerResponse, reply: LargeReply): Promise<void> {
  const { head, fill, mebibytes, tail } = FILL[reply]
  response.writeHead(200, { 'content-type': 'application/json' }).write(head)
  const block = Buffer.from(fill.repeat(Math.ceil(MEBIBYTE / 2 / fill.length)))
  for (let bytes = 0; bytes < mebibytes * MEBIBYTE && !response.destroyed; bytes += block.length) {
    if (!response.write(block)) {
      await once(response, 'drain')
    }
  }
  response.end(tail)
}
