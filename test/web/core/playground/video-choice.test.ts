import { describe, expect, it } from 'vitest'
import {
  FIRST_CHOICE,
  fitChoice,
  referenceLimits,
  resolutionRefusal,
  sharedDurations,
  videoBody,
} from '../../../../web/src/core/playground/video-choice.ts'

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
