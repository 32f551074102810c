import { createVideoProvider } from '#adapters/providers/create-video-provider.ts'
import { createUpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import type {
  CancelOutcome,
  PollOutcome,
  SubmitCommand,
  SubmitOutcome,
  VideoProvider,
} from '#adapters/providers/video/video-provider.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { sampleModel, sampleRequest } from './provider-samples.ts'
import { type RecordedRequest, startReplayServer } from './replay-server.ts'
import { answerText, readFixture, type UpstreamFixture } from './upstream-fixture.ts'

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
  readonly act: (provider: VideoProvider) => Promise<Outcome>
}

/** Lets a provider talk to a server that replays the fixtures. */
export async function replay<Outcome>({ channel, fixtures, act }: Replay<Outcome>): Promise<Replayed<Outcome>> {
  const server = await startReplayServer(fixtures)
  const http = createUpstreamHttp()
  try {
    const credential = () => Promise.resolve('TEST_KEY')
    const outcome = await act(createVideoProvider(channel(server.url), { credential, http }))
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
  const act = (provider: VideoProvider): Promise<SubmitOutcome | PollOutcome | CancelOutcome> => {
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
