import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { CancelOutcome, SubmitCommand } from '#core/providers/video-provider.ts'
import { createUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import {
  openVideoAccount,
  type PollOutcome,
  type SubmitOutcome,
  type VideoAccount,
} from '#upstream/providers/video-account.ts'
import { sampleModel, sampleRequest } from './provider-samples.ts'
import { answerText, readFixture, type UpstreamFixture } from './upstream-fixture.ts'

export type RecordedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export type ReplayServer = {
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  close(): Promise<void>
}

/** An upstream on the loopback interface that answers the method and path of each fixture with its response. */
export async function startReplayServer(fixtures: readonly UpstreamFixture[]): Promise<ReplayServer> {
  const requests: RecordedRequest[] = []
  const server = createServer({ keepAliveTimeout: 0 }, async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) {
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    const { method = '', url: path = '', headers } = incoming
    requests.push({ method, path, headers, body: text === '' ? null : JSON.parse(text) })
    const fixture = fixtures.find(({ request }) => request.method === method && request.path === path)
    if (fixture === undefined) {
      outgoing.writeHead(501).end('no fixture')
    } else {
      outgoing.writeHead(fixture.response.status, fixture.response.headers).end(answerText(fixture))
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type Replayed<Outcome> = { readonly outcome: Outcome; readonly requests: readonly RecordedRequest[] }

/** A submit of nothing special, for fixtures whose answer alone matters. */
export const ANY_SUBMIT: SubmitCommand = {
  request: sampleRequest(),
  model: sampleModel(),
  upstreamModelId: 'upstream-id',
}

type Replay<Outcome> = {
  readonly channel: (baseUrl: string) => VideoChannel
  readonly fixtures: readonly UpstreamFixture[]
  readonly act: (provider: VideoAccount) => Promise<Outcome>
}

/** Lets a provider talk to a server that replays the fixtures. */
export async function replay<Outcome>({ channel, fixtures, act }: Replay<Outcome>): Promise<Replayed<Outcome>> {
  const server = await startReplayServer(fixtures)
  const http = createUpstreamHttp()
  try {
    const credential = () => Promise.resolve('TEST_KEY')
    const outcome = await act(openVideoAccount(channel(server.url), { credential, http }))
    return { outcome, requests: server.requests }
  } finally {
    http.close()
    await server.close()
  }
}

/** Does what the fixture's method and path say, with the task id of its path. A list stands for a poll that it answers. */
export async function replayFixture(
  name: string,
  channel: (baseUrl: string) => VideoChannel,
): Promise<SubmitOutcome | PollOutcome | CancelOutcome> {
  const fixture = readFixture(name)
  const { method } = fixture.request
  const path = fixture.request.path.replace(/\/?\?.*$/, '/any')
  const taskId = path.replace(/\/cancel$/, '').replace(/^.*\//, '')
  const act = (provider: VideoAccount): Promise<SubmitOutcome | PollOutcome | CancelOutcome> => {
    if (method === 'GET') {
      return provider.poll(taskId)
    }
    return path.endsWith('/cancel') ? provider.cancel(taskId) : provider.submit(ANY_SUBMIT)
  }
  return (await replay({ channel, fixtures: [{ ...fixture, request: { ...fixture.request, path } }], act })).outcome
}

/** An outcome as a table of expectations holds it: `text` is checked against the fixture and left out. */
export function withoutText(name: string, outcome: SubmitOutcome | PollOutcome | CancelOutcome): unknown {
  if (typeof outcome === 'string' || !('text' in outcome)) {
    return outcome
  }
  const { text, ...rest } = outcome
  return text === answerText(readFixture(name)) ? rest : outcome
}
