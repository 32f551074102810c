import { describe, expect, it } from '@jest/globals'
import { afterEvent, FIRST_RUN_STATE, hasEnded, type JobEvent } from '#web/core/playground/run-state.ts'
import {
  FIRST_CHOICE,
  fitChoice,
  referenceLimits,
  resolutionRefusal,
  sharedDurations,
  videoBody,
} from '#web/core/playground/video-choice.ts'
import { isVideoOperation } from '#web/core/video-operation.ts'

const short = {
  id: 'short',
  durations: { min: 3, max: 6 },
  resolutions: ['480P'],
  references: { images: { min: 1, max: 4 }, videos: { min: 0, max: 0 }, audios: { min: 0, max: 0 } },
}
const long = {
  id: 'long',
  durations: { min: 5, max: 15 },
  resolutions: ['480P', '1080P'],
  references: { images: { min: 0, max: 9 }, videos: { min: 0, max: 3 }, audios: { min: 0, max: 0 } },
}

describe('the choice of a video', () => {
  it('sharedDurations are those that every model takes', () => {
    expect(sharedDurations([short, long])).toEqual({ min: 5, max: 6 })
    expect(sharedDurations([{ id: 'a', durations: { min: 3, max: 4 } }, long])).toBeUndefined()
  })

  it('resolutionRefusal names the models that do not take a resolution', () => {
    expect(resolutionRefusal([short, long], '480P')).toBeUndefined()
    expect(resolutionRefusal([short, long], '1080P')).toBe('not by short')
    expect(resolutionRefusal([short, long], '720P')).toBe('not by short and long')
  })

  it('referenceLimits hold for every model and name the one that takes none', () => {
    expect(referenceLimits([short, long], 'images')).toEqual({ min: 1, max: 4, refusal: undefined })
    expect(referenceLimits([short, long], 'videos').refusal).toBe('short takes no videos')
  })

  it('fitChoice moves seconds and resolution to what the models share', () => {
    const fitted = fitChoice({ ...FIRST_CHOICE, duration: 15, resolution: '1080P' }, [short, long])
    expect(fitted).toMatchObject({ duration: 6, resolution: '480P' })
  })

  it('videoBody holds a list for each kind of reference that was given', () => {
    const references = { images: ' https://a.example/1.png \n\nhttps://a.example/2.png', videos: '', audios: '' }
    expect(videoBody('long', { ...FIRST_CHOICE, prompt: 'a fox', references })).toEqual({
      model: 'long',
      prompt: 'a fox',
      duration: 5,
      resolution: '720P',
      aspect_ratio: '16:9',
      generate_audio: true,
      image_urls: ['https://a.example/1.png', 'https://a.example/2.png'],
    })
  })
})

const EVENTS: readonly JobEvent[] = [
  { id: 'queued', type: 'queued', at: 1 },
  { id: 'submitted', type: 'submitted', at: 2 },
  { id: 'processing', type: 'processing', at: 3 },
  { id: 'progress:37', type: 'progress', at: 4, percent: 37, eta_seconds: 20 },
  { id: 'finished', type: 'finished', at: 5 },
  { id: 'settled', type: 'settled', at: 6, cost: '0.7' },
  { id: 'progress:100', type: 'progress', at: 6, percent: 100 },
  { id: 'succeeded', type: 'succeeded', at: 6 },
]

describe('afterEvent', () => {
  it('follows a job to its end with its progress and its cost', () => {
    const state = EVENTS.reduce(afterEvent, FIRST_RUN_STATE)
    expect(state).toMatchObject({ status: 'succeeded', percent: 100, cost: '0.7' })
    expect(hasEnded(state)).toBe(true)
    expect(state.events.map(({ id }) => id)).toEqual([
      'queued',
      'submitted',
      'processing',
      'finished',
      'settled',
      'succeeded',
    ])
  })

  it('ignores events that a second connection repeats, and never lets the percent fall', () => {
    const state = EVENTS.slice(0, 4).reduce(afterEvent, FIRST_RUN_STATE)
    expect(EVENTS.slice(0, 3).reduce(afterEvent, state)).toMatchObject({ status: 'processing', percent: 37 })
    const lower = { id: 'progress:20', type: 'progress', at: 7, percent: 20 }
    expect(afterEvent(state, lower).percent).toBe(37)
  })

  it('keeps the reason of a failure', () => {
    const failed = { id: 'failed', type: 'failed', at: 9, error: 'the prompt was refused' }
    const state = afterEvent(FIRST_RUN_STATE, failed)
    expect([hasEnded(state), state.error]).toEqual([true, 'the prompt was refused'])
  })
})

describe('isVideoOperation', () => {
  it('knows ledger rows of video jobs, which have a page', () => {
    expect(['create-video-job', 'create-chat-completion', null].map(isVideoOperation)).toEqual([true, false, false])
  })
})
