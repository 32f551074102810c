import { describe, expect, it } from 'vitest'
import {
  P1_PROBLEMS,
  p1Failure,
  p1Problem,
  p1Refusal,
  p1State,
  p1Status,
} from '../../../lib/simulators/p1/p1-responses.ts'
import { DEFAULT_BEHAVIOUR } from '../../../lib/simulators/shared/behaviour.ts'
import { parseMagicPrompt } from '../../../lib/simulators/shared/magic-prompt.ts'
import type { TaskPhase } from '../../../lib/simulators/shared/simulated-task.ts'
import { at } from '../shared/simulator-client.ts'

const DETAILS = { model: 'm', kind: 't2v', seconds: 5, inputSeconds: 6, resolutionHeight: 720, ratio: '16:9' } as const
const TIMES = { submittedAtMs: 0, startsAtMs: 1_000, endsAtMs: 2_000, changedAtMs: 0, limitSeconds: 60 }
const rendering = { behaviour: DEFAULT_BEHAVIOUR, videoUrl: 'http://v' }

const task = (phase: TaskPhase, prompt = 'a cat') => ({
  ...{ id: 'task', prompt, phase, magic: parseMagicPrompt(prompt) },
  ...TIMES,
  details: DETAILS,
})

describe('p1-responses: errors', () => {
  it('are flat, with a detail behind the message', () => {
    const { status, body } = p1Problem(P1_PROBLEMS.key, 'sk-1')
    expect(status).toBe(401)
    expect(body).toEqual({
      code: 'InvalidApiKey',
      message: 'Invalid API-key provided. (sk-1)',
      request_id: expect.any(String),
    })
  })

  it.each([
    ['refuse:download', 415, 'BadRequest.InputDownloadFailed'],
    ['arrears', 400, 'Arrearage'],
    ['busy', 429, 'Throttling.RateQuota'],
    ['busy:quota', 429, 'Throttling.AllocationQuota'],
    ['busy:overloaded', 503, 'ModelUnavailable'],
  ] as const)('of [%s] are %i %s', (refusal, status, code) => {
    const answer = p1Refusal(refusal)
    expect([answer.status, at(answer.body, 'code')]).toEqual([status, code])
  })

  it.each([
    [429, 'Throttling.RateQuota'],
    [418, 'InternalError'],
  ])('of [error:%i] are %s', (status, code) => {
    expect(at(p1Failure(status).body, 'code')).toBe(code)
    expect(p1Failure(status).status).toBe(status)
  })
})

describe('p1-responses: p1State', () => {
  it('forgets a task over its time limit, and knows a rare word for waiting', () => {
    expect(p1Status('expired', 'usual')).toBe('UNKNOWN')
    expect([p1Status('waiting', 'usual'), p1Status('waiting', 'rare')]).toEqual(['PENDING', 'SUSPENDED'])
  })

  it('of a success has its times, its video and what it bills: the seconds in and out', () => {
    const state = p1State(task('succeeded'), rendering)
    expect(at(state, 'output')).toMatchObject({
      task_status: 'SUCCEEDED',
      video_url: 'http://v',
      submit_time: '1970-01-01 08:00:00.000',
      end_time: '1970-01-01 08:00:02.000',
    })
    expect(at(state, 'usage')).toMatchObject({ duration: 11, output_video_duration: 5, SR: 720, ratio: '16:9' })
  })

  it('of an internal failure comes without times, and of any other with them', () => {
    expect(at(p1State(task('failed', '[fail]'), rendering), 'output', 'submit_time')).toBeUndefined()
    const moderated = p1State(task('failed', '[moderated]'), rendering)
    expect(at(moderated, 'output', 'code')).toBe('DataInspectionFailed')
    expect(at(moderated, 'output', 'end_time')).toBeDefined()
  })

  it('of an odd status has the status alone', () => {
    const state = p1State(task('running'), { ...rendering, oddStatus: 'WARMING_UP' })
    expect(at(state, 'output')).toEqual({ task_id: 'task', task_status: 'WARMING_UP' })
  })
})
