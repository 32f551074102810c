import { createHttpClient } from '../../platform/http/http-client.ts'
import type { HttpRequest, SendOutcome } from '../../platform/http/send-once.ts'
import type { RequestAuth } from '../../platform/upstream-auth/upstream-auth.ts'

/** One JSON post to an OpenAI-compatible upstream. */
export type UpstreamPost = Pick<HttpRequest, 'timeouts' | 'deadline' | 'signal' | 'givenUp'> & {
  /** The base URL of the channel with the path of the operation. */
  readonly url: string
  /** The key of the channel, of which an empty one is not sent, or what authorises its requests in place of a key. */
  readonly credential: string | RequestAuth
  /** The header of the key; left out for `authorization` as a bearer. */
  readonly keyHeader?: 'x-api-key' | undefined
  /** Besides those of every post. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The gateway's id of the request, which the upstream can find in its logs. */
  readonly requestId: string
  /** A JSON string. */
  readonly body: string
}

/** The connections of this process to all upstreams of relayed requests. */
export interface UpstreamConnections {
  /** Posts once, over a pooled connection: see `HttpClient.send`. Never rejects. */
  post(post: UpstreamPost): Promise<SendOutcome>
  /** Closes every connection. */
  close(): void
}

/** Creates the connections; a process needs one set. */
export function createUpstreamConnections(): UpstreamConnections {
  const client = createHttpClient()
  return {
    post: (post) => client.send({ ...post, method: 'POST', headers: headersOf(post) }),
    close: () => client.close(),
  }
}

function headersOf({
  url,
  credential,
  keyHeader,
  headers: added,
  requestId,
  body,
}: UpstreamPost): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'reelgate',
    'x-client-request-id': requestId,
    ...added,
  }
  if (typeof credential !== 'string') {
    return credential.authorise({ url, headers, body })
  }
  if (credential !== '' && keyHeader !== undefined) {
    headers[keyHeader] = credential
  } else if (credential !== '') {
    headers.authorization = `Bearer ${credential}`
  }
  return headers
}
