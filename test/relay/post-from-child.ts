import { createUpstreamConnections } from '#upstream/providers/openai.ts'

/** For each origin, what the first and the second post to it came to: the body of an answer, or why there was none. */
export type PostResults = string[][]

/** Posts from a process with an environment of its own, twice to each origin, and prints what came of it. */
async function postTwice(origin: string): Promise<string[]> {
  const connections = createUpstreamConnections()
  const results: string[] = []
  for (let post = 0; post < 2; post += 1) {
    const outcome = await connections.post({
      url: `${origin}/v1`,
      credential: 'key',
      requestId: 'request',
      body: '{}',
      timeouts: { connectMilliseconds: 5_000, firstByteMilliseconds: 5_000, idleMilliseconds: 5_000 },
      signal: undefined,
    })
    if (outcome.kind === 'response') {
      const chunks: Buffer[] = []
      for await (const chunk of outcome.body) {
        chunks.push(chunk)
      }
      results.push(Buffer.concat(chunks).toString())
    } else {
      results.push('reason' in outcome ? outcome.reason : outcome.kind)
    }
  }
  connections.close()
  return results
}

if (import.meta.main) {
  const origins = process.argv.slice(2)
  process.stdout.write(JSON.stringify((await Promise.all(origins.map(postTwice))) satisfies PostResults))
}
