import OpenAI from 'openai'
import type { LocalHost } from '#local/local-host.ts'

const CHAT_MODEL = 'chat-default'
const EMBEDDING_MODEL = 'text-embedding-3-small'

/** The official SDK with the gateway's address and a key, as a client would use it. */
function openClient({ url, key }: LocalHost): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
}

/** Streams a chat and prints each word as it arrives. */
export async function showChat(host: LocalHost): Promise<void> {
  const question = 'What does a paper city look like at night?'
  console.log(`\nchat.completions.create({ model: '${CHAT_MODEL}', stream: true })  "${question}"`)
  const startedAt = performance.now()
  const stream = await openClient(host).chat.completions.create({
    model: CHAT_MODEL,
    messages: [{ role: 'user', content: question }],
    stream: true,
    stream_options: { include_usage: true },
  })
  let firstWordMilliseconds: number | undefined
  let tokens = 0
  process.stdout.write('  ')
  for await (const { choices, usage } of stream) {
    firstWordMilliseconds ??= performance.now() - startedAt
    process.stdout.write(choices[0]?.delta.content ?? '')
    tokens = usage?.total_tokens ?? tokens
  }
  console.log(`\n  first word after ${Math.round(firstWordMilliseconds ?? 0)} ms, ${tokens} tokens in all`)
}

/** Embeds two strings. By default the SDK requests base64 and decodes it. */
export async function showEmbedding(host: LocalHost): Promise<void> {
  const input = ['a paper city lights up at night', 'a paper town glows after dark']
  console.log(`\nembeddings.create({ model: '${EMBEDDING_MODEL}', input: [2 strings] })`)
  const { data, usage } = await openClient(host).embeddings.create({ model: EMBEDDING_MODEL, input })
  const [first = [], second = []] = data.map(({ embedding }) => embedding)
  const similarity = first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0)
  console.log(
    `  ${data.length} vectors of ${first.length} numbers, similarity ${similarity.toFixed(2)}; ${usage.total_tokens} tokens\n`,
  )
}
