import type {
  CancelOutcome,
  PollOutcome,
  SubmitOutcome,
  VideoProvider,
} from '#adapters/providers/video/video-provider.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoResult } from '#core/jobs/video-job.ts'

type Answer<Outcome> = Outcome | Promise<Outcome>

/** What the upstreams of a test do; `attempt` counts the calls of one kind from 1. */
type Script = {
  submit: (channelId: string, attempt: number) => Answer<SubmitOutcome>
  poll: (attempt: number) => Answer<PollOutcome>
  cancel: (attempt: number) => Answer<CancelOutcome>
}

/** Upstreams that do as they are told and remember what they were asked. */
export class ScriptedUpstream {
  readonly submitted: string[] = []
  polls = 0
  readonly cancelled: string[] = []
  /** Channels whose credential cannot be read. */
  readonly closed = new Set<string>()
  script: Script = { submit: () => accepted(), poll: () => running(), cancel: () => 'refused' }

  async open({ id }: VideoChannel): Promise<VideoProvider> {
    if (this.closed.has(id)) {
      throw new Error('no credential')
    }
    return {
      submit: async () => {
        this.submitted.push(id)
        return await this.script.submit(id, this.submitted.length)
      },
      poll: async () => {
        this.polls += 1
        return await this.script.poll(this.polls)
      },
      cancel: async (taskId) => {
        this.cancelled.push(taskId)
        return await this.script.cancel(this.cancelled.length)
      },
    }
  }
}

/** Outcomes one after the other; the last one is repeated. */
export function inTurn<Outcome>(...outcomes: readonly Outcome[]): (...call: readonly unknown[]) => Outcome {
  let calls = 0
  return () => {
    const outcome = outcomes[Math.min(calls, outcomes.length - 1)]
    calls += 1
    if (outcome === undefined) {
      throw new RangeError('the script is empty')
    }
    return outcome
  }
}

const TASK_ID = 'task-1'
export const SUBMIT_TEXT = '{"task_id":"task-1","n":5.0}'

export function accepted(text = SUBMIT_TEXT): SubmitOutcome {
  return { kind: 'accepted', taskId: TASK_ID, text }
}

export function running(text = '{"task_status":"RUNNING"}'): PollOutcome {
  return { kind: 'running', text, isKnownStatus: true }
}

/** A success answer; `body` members: video_url, tokens, seconds (billable), length (of the video), resolution. */
export function succeeded(body: Readonly<Record<string, unknown>>): PollOutcome {
  const text = JSON.stringify(body)
  return { kind: 'succeeded', text, result: readResult(text) }
}

export function readResult(text: string): VideoResult {
  const body: Record<string, unknown> = JSON.parse(text)
  const word = (name: string) => (body[name] === undefined ? undefined : String(body[name]))
  return {
    videoUrl: word('video_url'),
    completionTokens: word('tokens'),
    billableSeconds: word('seconds'),
    outputSeconds: word('length'),
    resolution: undefined,
    audio: undefined,
  }
}
