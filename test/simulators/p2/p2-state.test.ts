import { describe, expect, it } from 'vitest'
import { p2Seed, p2State, p2Usage } from '../../../lib/simulators/p2/p2-state.ts'
import { validateP2Submit } from '../../../lib/simulators/p2/p2-validation.ts'
import { DEFAULT_BEHAVIOUR } from '../../../lib/simulators/shared/behaviour.ts'
import { parseMagicPrompt } from '../../../lib/simulators/shared/magic-prompt.ts'
import type { TaskPhase } from '../../../lib/simulators/shared/simulated-task.ts'
import { p2Body } from './p2-client.ts'

const urls = { video: 'http://v', lastFrame: 'http://f' }
const rendering = { behaviour: DEFAULT_BEHAVIOUR, urls }

function task(phase: TaskPhase, prompt = 'a cat', more: Record<string, unknown> = {}) {
  const submit = validateP2Submit(p2Body(prompt, more))
  if (submit.kind !== 'valid') {
    throw new Error(submit.kind)
  }
  const times = { submittedAtMs: 1_500, startsAtMs: 2_500, endsAtMs: 9_500, changedAtMs: 3_500, limitSeconds: 60 }
  return { id: 'cgt-1', prompt, ...times, phase, magic: parseMagicPrompt(prompt), details: submit.details }
}

describe('p2-state: p2State', () => {
  it.each([
    ['waiting', 'usual', 'queued'],
    ['waiting', 'rare', 'preparing'],
    ['running', 'usual', 'running'],
    ['running', 'rare', 'processing'],
    ['expired', 'usual', 'expired'],
  ] as const)('of a task that is %s, in %s words, is %s', (phase, statusWords, status) => {
    const state = p2State(task(phase), { ...rendering, behaviour: { ...DEFAULT_BEHAVIOUR, statusWords } })
    expect(state).toMatchObject({ id: 'cgt-1', status, created_at: 1, updated_at: 3 })
    expect(state).not.toHaveProperty('content')
  })

  it('of a success has the video, and the last frame only where it was asked for', () => {
    expect(p2State(task('succeeded'), rendering)).toMatchObject({ content: { video_url: 'http://v' }, duration: 5 })
    expect(p2State(task('succeeded'), rendering)).not.toHaveProperty('content.last_frame_url')
    const asked = task('succeeded', 'a cat', { return_last_frame: true })
    expect(p2State(asked, rendering)).toHaveProperty('content.last_frame_url', 'http://f')
  })

  it('of a failure has the code that its prompt asks for', () => {
    expect(p2State(task('failed', '[moderated]'), rendering)).toHaveProperty(
      'error.code',
      'OutputVideoSensitiveContentDetected',
    )
  })

  it('of an odd status has nothing but the word', () => {
    const state = p2State(task('succeeded'), { ...rendering, oddStatus: 'warming' })
    expect(state).toHaveProperty('status', 'warming')
    expect(state).not.toHaveProperty('content')
  })
})

describe('p2-state: p2Usage', () => {
  it.each([
    ['a cat', {}, '{"completion_tokens":108900,"total_tokens":108900}'],
    ['a cat', { floatUsage: true }, '{"completion_tokens":108900.0,"total_tokens":108900.0}'],
    ['[usage:7.50]', {}, '{"completion_tokens":7.50,"total_tokens":7.50}'],
    ['[no-usage]', {}, undefined],
    ['a cat', { dropUsage: true }, undefined],
  ])('of %s with %j is %s', (prompt, behaviour, usage) => {
    const reported = p2Usage(task('succeeded', prompt), { ...DEFAULT_BEHAVIOUR, ...behaviour })
    expect(reported === undefined ? undefined : JSON.stringify(reported)).toBe(usage)
  })
})

describe('p2-state: p2Seed', () => {
  it('is the same for every answer about a task', () => {
    expect(p2Seed('cgt-1')).toBe(p2Seed('cgt-1'))
    expect(p2Seed('cgt-1')).not.toBe(p2Seed('cgt-2'))
  })
})
