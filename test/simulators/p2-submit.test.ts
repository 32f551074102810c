import { describe, expect, it } from '@jest/globals'
import { validateP2Submit } from '../../lib/simulators/p2-submit.ts'

const IMAGE = ['image_url', 'reference_image'] as const
const FIRST = ['image_url', 'first_frame'] as const
const VIDEO = ['video_url', 'reference_video'] as const
const AUDIO = ['audio_url', 'reference_audio'] as const

/** A text-to-video body; `more` replaces or adds fields. */
function p2Body(text: string, more: object = {}): Record<string, unknown> {
  return {
    model: 'famA-2-0-260128',
    content: [{ type: 'text', text }],
    resolution: '720p',
    ratio: '16:9',
    duration: 5,
    ...more,
  }
}

/** A body for a model with references of the given kinds. */
function withReferences(model: string, ...parts: readonly (readonly [type: string, role?: string, url?: string])[]) {
  const media = parts.map(([type, role, url = 'https://in.example.test/a']) => ({ type, [type]: { url }, role }))
  return p2Body('a cat', { model, content: [{ type: 'text', text: 'a cat' }, ...media] })
}

describe('validateP2Submit', () => {
  it.each([
    ['famA-2', { resolution: '4k' }],
    ['famA-2-0-260128', { ratio: '5:4' }],
    ['famA-2-fast', { resolution: '720p' }],
    ['intl-famA-2-lite', { resolution: '480p' }],
    ['famA-1-lite', { duration: 2, resolution: '1080p' }],
    ['intl-famA-1-pro', { duration: 12, ratio: 'adaptive' }],
  ])('accepts for %s %j', (model, more) => {
    expect(validateP2Submit(p2Body('a cat', { ...more, model })).kind).toBe('valid')
  })

  it.each([
    ['famA-2', 'duration', { duration: 3 }],
    ['famA-2', 'duration', { duration: 16 }],
    ['famA-2-fast', 'duration', { duration: -1 }],
    ['famA-1-pro', 'duration', { duration: 13 }],
    ['famA-2-fast', 'resolution', { resolution: '1080p' }],
    ['famA-2', 'resolution', { resolution: '720P' }],
    ['famA-1-pro', 'resolution', { resolution: '4k' }],
    ['famA-2', 'ratio', { ratio: '4:5' }],
    ['famA-2', 'frames', { frames: 121 }],
    ['famA-1-pro', 'generate_audio', { generate_audio: false }],
    ['famA-2', 'fps', { fps: 24 }],
  ])('refuses for %s the %s of %j', (model, param, more) => {
    expect(validateP2Submit(p2Body('a cat', { ...more, model }))).toMatchObject({ kind: 'invalid', param })
  })

  it.each(['famB-1.1-t2v', 'famA-3', 'xfamA-2', 'famA-1'])('refuses the unknown model %s', (model) => {
    expect(validateP2Submit(p2Body('a cat', { model }))).toEqual({ kind: 'unknown_model', model })
  })

  it.each([
    [{ content: [] }, 'model'],
    [{ model: 'famA-2' }, 'content'],
    [undefined, 'model'],
  ])('names what %j lacks', (body, param) => {
    expect(validateP2Submit(body)).toEqual({ kind: 'missing', param })
  })

  it.each([
    ['nine reference images', withReferences('famA-2', ...Array(9).fill(IMAGE))],
    ['all kinds of references', withReferences('famA-2', IMAGE, VIDEO, AUDIO)],
    ['audio beside a video', withReferences('famA-2', VIDEO, AUDIO)],
    ['an inline image', withReferences('famA-2', ['image_url', 'first_frame', 'data:image/png;base64,AAAA'])],
    ['four references on 1-lite', withReferences('famA-1-lite', IMAGE, IMAGE, IMAGE, IMAGE)],
    ['an image on the image model', withReferences('famA-1-lite-i2v', FIRST)],
  ])('accepts %s', (_name, body) => {
    expect(validateP2Submit(body).kind).toBe('valid')
  })

  it.each([
    ['two images without roles', withReferences('famA-2', ['image_url'], ['image_url'])],
    ['two first frames', withReferences('famA-2', FIRST, FIRST)],
    ['ten reference images', withReferences('famA-2', ...Array(10).fill(IMAGE))],
    ['a frame beside a reference', withReferences('famA-2', FIRST, IMAGE)],
    ['a frame beside a video', withReferences('famA-2', FIRST, VIDEO)],
    ['audio alone', withReferences('famA-2', AUDIO)],
    ['four videos', withReferences('famA-2', VIDEO, VIDEO, VIDEO, VIDEO)],
    ['four audios', withReferences('famA-2', IMAGE, AUDIO, AUDIO, AUDIO, AUDIO)],
    ['an inline video', withReferences('famA-2', ['video_url', 'reference_video', 'data:video/mp4;base64,AAAA'])],
    ['an unknown part', p2Body('', { content: [{ type: 'sound' }] })],
    ['a video on 1.x', withReferences('famA-1-lite', VIDEO)],
    ['five references on 1-lite', withReferences('famA-1-lite', ...Array(5).fill(IMAGE))],
    ['a reference on 1-pro', withReferences('famA-1-pro', IMAGE)],
    ['an image on the text model', withReferences('famA-1-lite-t2v', FIRST)],
    ['no image on the image model', withReferences('famA-1-lite-i2v')],
  ])('refuses %s', (_name, body) => {
    expect(validateP2Submit(body).kind).toBe('invalid')
  })

  it.each([
    [
      'keeps defaults',
      { model: 'famA-1-pro', content: [{ type: 'text', text: 'a cat' }] },
      { model: 'famA-1-pro', generation: 1, resolution: '1080p', ratio: '16:9', seconds: 5 },
    ],
  ])('%s', (_name, body, details) => {
    expect(validateP2Submit(body)).toMatchObject({ kind: 'valid', details })
  })
})
