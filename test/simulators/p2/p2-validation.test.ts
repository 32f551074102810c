import { describe, expect, it } from 'vitest'
import { type P2Submit, validateP2Submit } from '../../../lib/simulators/p2/p2-validation.ts'
import { p2Body, p2Content } from './p2-client.ts'

const IMAGE = ['image_url', 'reference_image'] as const
const FIRST = ['image_url', 'first_frame'] as const
const LAST = ['image_url', 'last_frame'] as const
const VIDEO = ['video_url', 'reference_video'] as const
const AUDIO = ['audio_url', 'reference_audio'] as const
const firstGeneration = { generate_audio: undefined, model: 'famA-1-lite' }

function detailsOf(submit: P2Submit) {
  return submit.kind === 'valid' ? submit.details : undefined
}

describe('values that a line of models takes', () => {
  it.each([
    ['famA-2', { resolution: '4k' }],
    ['famA-2', { resolution: '1080p', duration: 15 }],
    ['famA-2-pro', { duration: -1 }],
    ['famA-2-0-260128', { ratio: '5:4' }],
    ['famA-2-fast', { resolution: '720p' }],
    ['intl-famA-2-lite', { resolution: '480p' }],
    ['famA-1-lite', { ...firstGeneration, duration: 2, resolution: '1080p' }],
    ['famA-1-pro', { ...firstGeneration, frames: 121, duration: undefined }],
    ['intl-famA-1-pro', { ...firstGeneration, duration: 12, ratio: 'adaptive' }],
  ])('%s takes %j', (model, more) => {
    expect(validateP2Submit(p2Body('a cat', { ...more, model })).kind).toBe('valid')
  })

  it.each([
    ['famA-2', 'duration', { duration: 3 }],
    ['famA-2', 'duration', { duration: 16 }],
    ['famA-2-fast', 'duration', { duration: -1 }],
    ['famA-2-fast', 'resolution', { resolution: '1080p' }],
    ['famA-2-lite', 'resolution', { resolution: '1080p' }],
    ['famA-2', 'resolution', { resolution: '720P' }],
    ['famA-2', 'ratio', { ratio: '4:5' }],
    ['famA-2', 'ratio', { ratio: '9:21' }],
    ['famA-2', 'frames', { frames: 121 }],
    ['famA-1-pro', 'frames', { ...firstGeneration, frames: 122 }],
    ['famA-1-pro', 'duration', { ...firstGeneration, duration: 13 }],
    ['famA-1-pro', 'resolution', { ...firstGeneration, resolution: '4k' }],
    ['famA-1-pro', 'generate_audio', { generate_audio: false }],
    ['famA-2', 'fps', { fps: 24 }],
    ['famA-2', 'duration', { duration: 5.5 }],
    ['famA-2', 'execution_expires_after', { execution_expires_after: 60 }],
  ])('%s does not take %s of %j', (model, param, more) => {
    expect(validateP2Submit(p2Body('a cat', { ...more, model }))).toMatchObject({ kind: 'invalid', param })
  })

  it.each(['famB-1.1-t2v', 'famA-3', 'xfamA-2', 'famA-1'])('there is no model %s', (model) => {
    expect(validateP2Submit(p2Body('a cat', { model }))).toEqual({ kind: 'unknown_model', model })
  })

  it('names what is missing', () => {
    expect(validateP2Submit({ content: [] })).toEqual({ kind: 'missing', param: 'model' })
    expect(validateP2Submit({ model: 'famA-2' })).toEqual({ kind: 'missing', param: 'content' })
    expect(validateP2Submit(undefined)).toEqual({ kind: 'missing', param: 'model' })
  })
})

describe('content', () => {
  it.each([
    ['one image without a role', p2Content(['image_url'])],
    ['first and last frame', p2Content(FIRST, LAST)],
    ['nine reference images', p2Content(...Array(9).fill(IMAGE))],
    ['all kinds of references', p2Content(IMAGE, VIDEO, AUDIO)],
    ['audio beside a video', p2Content(VIDEO, AUDIO)],
    ['an inline image', p2Content(['image_url', 'first_frame', 'data:image/png;base64,AAAA'])],
    ['four references on 1-lite', { ...p2Content(IMAGE, IMAGE, IMAGE, IMAGE), ...firstGeneration }],
    ['an image on the image model', { ...p2Content(FIRST), ...firstGeneration, model: 'famA-1-lite-i2v' }],
  ])('may be %s', (_name, body) => {
    expect(validateP2Submit(body).kind).toBe('valid')
  })

  it.each([
    ['two images without roles', p2Content(['image_url'], ['image_url'])],
    ['two first frames', p2Content(FIRST, FIRST)],
    ['a last frame alone', p2Content(LAST)],
    ['ten reference images', p2Content(...Array(10).fill(IMAGE))],
    ['a frame beside a reference', p2Content(FIRST, IMAGE)],
    ['a frame beside a video', p2Content(FIRST, VIDEO)],
    ['audio alone', p2Content(AUDIO)],
    ['four videos', p2Content(VIDEO, VIDEO, VIDEO, VIDEO)],
    ['four audios', p2Content(IMAGE, AUDIO, AUDIO, AUDIO, AUDIO)],
    ['an inline video', p2Content(['video_url', 'reference_video', 'data:video/mp4;base64,AAAA'])],
    ['nothing but an unknown part', p2Body('', { content: [{ type: 'sound' }] })],
    ['a video on 1.x', { ...p2Content(VIDEO), ...firstGeneration }],
    ['five references on 1-lite', { ...p2Content(IMAGE, IMAGE, IMAGE, IMAGE, IMAGE), ...firstGeneration }],
    ['a reference on 1-pro', { ...p2Content(IMAGE), ...firstGeneration, model: 'famA-1-pro' }],
    ['an image on the text model', { ...p2Content(FIRST), ...firstGeneration, model: 'famA-1-lite-t2v' }],
    ['no image on the image model', { ...p2Body('a cat'), ...firstGeneration, model: 'famA-1-lite-i2v' }],
  ])('may not be %s', (_name, body) => {
    expect(validateP2Submit(body).kind).toBe('invalid')
  })
})

describe('parameters inside a prompt', () => {
  const PROMPT = 'a cat --rs 1080p --rt 9:16 --dur 10'

  it('win on 1.x, where good', () => {
    const submit = validateP2Submit(p2Body(PROMPT, { ...firstGeneration, resolution: '480p', duration: 5 }))
    expect(detailsOf(submit)).toMatchObject({ resolution: '1080p', ratio: '9:16', seconds: 10 })
  })

  it('are replaced on 1.x, where bad', () => {
    const submit = validateP2Submit(p2Body('a cat --rs 9000p --dur 99', { ...firstGeneration, resolution: '480p' }))
    expect(detailsOf(submit)).toMatchObject({ resolution: '480p', seconds: 5 })
  })

  it('are prose on 2.x', () => {
    expect(detailsOf(validateP2Submit(p2Body(PROMPT)))).toMatchObject({ resolution: '720p', ratio: '16:9', seconds: 5 })
  })
})

describe('what is kept of a submit', () => {
  it('has the defaults of the line and no content', () => {
    const body = { model: 'famA-1-pro', content: [{ type: 'text', text: 'a cat' }] }
    expect(detailsOf(validateP2Submit(body))).toEqual({
      parameters: { model: 'famA-1-pro' },
      generation: 1,
      resolution: '1080p',
      ratio: '16:9',
      seconds: 5,
    })
  })
})
