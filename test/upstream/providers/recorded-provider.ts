import { describe, expect, it } from '@jest/globals'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { videoProvider } from '#core/providers/registry.ts'
import { parseJson } from '#core/providers/reply-reading.ts'
import { readVideoResult } from '#lambdas/pipeline/step-context.ts'
import { openVideoAccount } from '#upstream/providers/video-account.ts'
import type { Recording } from '../../../lib/simulators/recorded.ts'
import { ANY_SUBMIT, replay } from './replay.ts'

type Step = keyof Recording

/** A provider by its recording, for {@link describeRecordedProvider}. */
type RecordedProvider = {
  readonly recording: Recording
  /** A channel as the configuration gives it. */
  readonly channel: (baseUrl: string) => VideoChannel
  /** What the gateway makes of each recorded reply, without its text. */
  readonly outcomes: Readonly<Partial<Record<Step, unknown>>>
}

const KEY = 'sk-up/Q9"x\\8vT2mZ'
const SPELLINGS = [JSON.stringify(KEY).slice(1, -1), encodeURIComponent(KEY)]
const DEPTH = 100_000

/** What every video provider must show, by its recording: each reply has its outcome, no key gets out, and nothing makes it throw. */
export function describeRecordedProvider({ recording, channel, outcomes }: RecordedProvider): void {
  const { provider } = channel('https://upstream.example')
  const taskId = taskOf(recording, channel)
  const steps = Object.keys(recording) as Step[]

  /** An upstream that says the same to every request. */
  const accountOf = (status: number, text: string, sent: unknown[] = []) =>
    openVideoAccount(channel('https://upstream.example'), {
      credential: async () => KEY,
      renewedCredential: async () => 'another key',
      http: {
        send: async (request) => {
          sent.push(request)
          return { kind: 'response', status, headers: {}, text } as const
        },
        close() {},
      },
    })

  describe(`the recording of ${provider}`, () => {
    it('has an outcome for each of its replies', () => {
      expect(Object.keys(outcomes).sort()).toEqual([...steps].sort())
    })

    it.each(steps)('gives `%s` its outcome', async (step) => {
      const { request, response } = recording[step] ?? recording.submit
      const { outcome, requests } = await replay({
        channel,
        fixtures: [{ name: step, request: { body: null, ...request }, response: { headers: {}, ...response } }],
        act: async (account) => {
          if (step === 'submit' || step === 'refused') {
            return await account.submit(ANY_SUBMIT)
          }
          const id = step === 'unknown' ? (request.path.split('/').at(-1) ?? '') : taskId
          return step === 'cancel' ? await account.cancel(id) : await account.poll(id)
        },
      })
      expect(requests).toMatchObject([{ method: request.method, path: request.path }])
      const text = JSON.stringify(response.body)
      expect(outcome).toEqual(
        typeof outcome === 'string' || !('text' in outcome) ? outcomes[step] : { ...Object(outcomes[step]), text },
      )
    })

    it('has every field that a submit may send', async () => {
      const { requests } = await replay({ channel, fixtures: [], act: (account) => account.submit(ANY_SUBMIT) })
      const sent = Object.keys(Object(requests[0]?.body))
      expect(Object.keys(recording.submit.request.body ?? {})).toEqual(expect.arrayContaining(sent))
    })
  })

  describe(`an upstream of ${provider}`, () => {
    it.each(SPELLINGS)('that repeats its key as %s is refused without the key', async (spelling) => {
      const text = JSON.stringify(recording.refused.response.body).replace(/"}|"]/, (end) => ` ${spelling}${end}`)
      const outcome = await accountOf(400, text).submit(ANY_SUBMIT)
      expect(text).toContain(spelling)
      expect(JSON.stringify(outcome)).not.toContain(spelling)
      expect(JSON.stringify(outcome)).toContain('[redacted]')
    })

    it('that refuses a submit beside the id of a task is never asked again', async () => {
      const sent: unknown[] = []
      await accountOf(403, JSON.stringify(recording.submit.response.body), sent).submit(ANY_SUBMIT)
      expect(sent).toHaveLength(1)
    })

    it('that nests its replies 100,000 deep has an outcome for each', async () => {
      for (const name of Object.keys(Object(recording.succeeded.response.body))) {
        const text = `{"${name}":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`
        expect(await accountOf(200, text).submit(ANY_SUBMIT)).toHaveProperty('kind')
        expect(await accountOf(200, text).poll(taskId)).toHaveProperty('kind')
        expect(readVideoResult(provider, text)).toHaveProperty('videoUrl')
        expect(videoProvider(provider).readPercent(parseJson(text))).toBeUndefined()
      }
    })
  })
}

/** The id of the recorded task. */
function taskOf({ submit }: Recording, channel: RecordedProvider['channel']): string {
  return videoProvider(channel('https://upstream.example').provider).readTaskId(submit.response.body) ?? ''
}
