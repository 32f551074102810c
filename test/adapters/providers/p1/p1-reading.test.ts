import { describe, expect, it } from 'vitest'
import { p1PollOutcome, p1TaskId, readP1Result } from '#adapters/providers/p1/p1-reading.ts'

describe('p1TaskId', () => {
  it.each([
    [{ output: { task_id: 't-1' } }, 't-1'],
    [{ task_id: 't-1' }, undefined],
    [{ output: { task_id: '..' } }, undefined],
    [undefined, undefined],
  ])('reads the task id of %j', (body, taskId) => {
    expect(p1TaskId(body)).toBe(taskId)
  })
})

describe('p1PollOutcome', () => {
  const pollP1 = (output: unknown) =>
    p1PollOutcome({ kind: 'response', status: 200, headers: {}, text: JSON.stringify({ output, request_id: 'r-1' }) })

  it.each(['PENDING', 'RUNNING', 'SUSPENDED', 'running'])('waits for %s', (task_status) => {
    expect(pollP1({ task_status })).toMatchObject({ kind: 'running', isKnownStatus: true })
  })

  it('goes on with a word that no document lists, and says so', () => {
    expect(pollP1({ task_status: 'POSTPROCESSING' })).toMatchObject({
      kind: 'running',
      isKnownStatus: false,
      statusWord: 'POSTPROCESSING',
    })
  })

  it('passes on message, else code, else the request id', () => {
    const task_status = 'FAILED'
    expect(pollP1({ task_status, code: 'C', message: 'words' })).toMatchObject({ message: 'words' })
    expect(pollP1({ task_status, code: 'C', message: '' })).toMatchObject({ message: 'C' })
    expect(pollP1({ task_status })).toMatchObject({ message: 'the upstream reported FAILED (request r-1)' })
  })

  it('takes the status UNKNOWN for a task that is gone', () => {
    expect(pollP1({ task_status: 'UNKNOWN' })).toEqual({ kind: 'gone', reason: 'task status UNKNOWN' })
  })

  it.each(['', 'null', '[]', '12', '"text"', '<html>', '[['.repeat(100_000), '{"status":'])(
    'has no verdict on %.20j',
    (text) => {
      expect(p1PollOutcome({ kind: 'response', status: 200, headers: {}, text }).kind).toBe('unavailable')
    },
  )
})

describe('readP1Result', () => {
  const read = (usage: unknown) => readP1Result(JSON.stringify({ output: { video_url: 'https://v.example/1' }, usage }))

  it('bills the reported duration, and takes it for the length of a video that has no input', () => {
    expect(read({ duration: 5, SR: 720 })).toEqual({
      videoUrl: 'https://v.example/1',
      completionTokens: undefined,
      billableSeconds: '5',
      outputSeconds: '5',
      resolution: '720P',
      audio: undefined,
    })
  })

  it.each([
    ['the output where it is told apart', { duration: 9, input_video_duration: 4, output_video_duration: 5 }, '5'],
    ['no length where input is counted in', { duration: 9, input_video_duration: 4 }, undefined],
    ['no length that no video can have', { duration: 100_000 }, undefined],
  ])('serves %s', (_, usage, outputSeconds) => {
    expect(read(usage).outputSeconds).toBe(outputSeconds)
  })

  it.each([
    ['720', '720P'],
    ['1080p', '1080P'],
    [4320, undefined],
    [null, undefined],
  ])('reads the resolution %j as %s', (SR, resolution) => {
    expect(read({ SR }).resolution).toBe(resolution)
  })
})
