import type { LargeReply } from './large-upstream.ts'

/** A relayed request and what the upstream makes of it. */
export type Case = {
  readonly operation: 'create-chat-completion' | 'create-completion' | 'create-image' | 'create-embedding'
  readonly path: string
  readonly reply: LargeReply
  readonly body: object
}

/** The request whose speed is measured. */
export const CHAT: Case = {
  operation: 'create-chat-completion',
  path: '/v1/chat/completions',
  reply: 'chat',
  body: { model: 'chat', messages: [{ role: 'user', content: 'Hello' }] },
}

/** Requests that hold as much as the gateway lets them. */
export const LARGE_CASES: Readonly<Record<string, Case>> = {
  'a chat': CHAT,
  'a chat, body of 5 MB': {
    ...CHAT,
    body: { ...CHAT.body, messages: [{ role: 'user', content: 'ab c '.repeat(999_000) }] },
  },
  'a chat, body of 5 MB and reply of 32 MiB': {
    ...CHAT,
    reply: 'large chat',
    body: { ...CHAT.body, messages: [{ role: 'user', content: 'ab c '.repeat(999_000) }] },
  },
  'a completion, 8 prompts, replies of 15 MiB': {
    operation: 'create-completion',
    path: '/v1/completions',
    reply: 'completion',
    body: { model: 'chat', prompt: Array.from({ length: 8 }, (_, index) => `Hello ${index}`) },
  },
  'images, reply of 158 MiB': {
    operation: 'create-image',
    path: '/v1/images/generations',
    reply: 'images',
    body: { model: 'image', prompt: 'a paper city' },
  },
  'embeddings, reply of 158 MiB': {
    operation: 'create-embedding',
    path: '/v1/embeddings',
    reply: 'embeddings',
    body: { model: 'embedding', input: 'a paper city' },
  },
}

/** The event that API Gateway would send. */
export function eventOf({ path, body }: Case, key: string): object {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    httpMethod: 'POST',
    path,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    body: JSON.stringify(body),
    isBase64Encoded: false,
    pathParameters: null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    requestContext: { requestId: crypto.randomUUID(), identity: { sourceIp: '192.0.2.1' } },
  }
}
