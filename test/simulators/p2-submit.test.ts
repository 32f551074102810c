import { describe, expect, it } from '@jest/globals'
import { at, useVideo } from './simulator-client.ts'

const IMAGE = ['image_url', 'reference_image'] as const
const FIRST = ['image_url', 'first_frame'] as const
const VIDEO = ['video_url', 'reference_video'] as const
const AUDIO = ['audio_url', 'reference_audio'] as const

/** A body for a model with references of the given kinds. */
function withReferences(model: string, ...parts: readonly (readonly [type: string, role?: string, url?: string])[]) {
  const media = parts.map(([type, role, url = 'https://in.example.test/a']) => ({ type, [type]: { url }, role }))
  return { model, content: [{ type: 'text', text: 'a cat' }, ...media] }
}

describe('a submit to P2', () => {
  it.each([
    ['famA-2-0-260128', { ratio: '5:4' }],
    ['intl-famA-2-lite', { resolution: '480p' }],
    ['famA-1-lite', { duration: 2, resolution: '1080p', generate_audio: undefined }],
  ])('is accepted for %s with %j', async (model, more) => {
    const { submit, body } = await useVideo('p2')
    expect((await submit({ ...body('a cat'), model, ...more })).status).toBe(200)
  })

  it.each([
    ['famA-2', 'duration', { duration: 16 }],
    ['famA-2', 'resolution', { resolution: '720P' }],
    ['famA-2', 'ratio', { ratio: '4:5' }],
    ['famA-1-pro', 'generate_audio', { generate_audio: false }],
    ['famA-2', 'fps', { fps: 24 }],
  ])('is refused for %s, naming %s, with %j', async (model, param, more) => {
    const { submit, body } = await useVideo('p2')
    const { status, body: refusal } = await submit({ ...body('a cat'), model, ...more })
    expect([status, at(refusal, 'error', 'param')]).toEqual([400, param])
  })

  it.each(['famB-1.1-t2v', 'famA-3', 'xfamA-2', 'famA-1'])('is refused for the unknown model %s', async (model) => {
    const { submit, body } = await useVideo('p2')
    expect((await submit({ ...body('a cat'), model })).status).toBe(404)
  })

  it.each([
    ['nine reference images', 200, withReferences('famA-2', ...Array(9).fill(IMAGE))],
    ['all kinds of references', 200, withReferences('famA-2', IMAGE, VIDEO, AUDIO)],
    ['an inline first frame', 200, withReferences('famA-2', [...FIRST, 'data:image/png;base64,AAAA'])],
    ['an image without a role', 400, withReferences('famA-2', ['image_url'])],
    ['two first frames', 400, withReferences('famA-2', FIRST, FIRST)],
    ['ten reference images', 400, withReferences('famA-2', ...Array(10).fill(IMAGE))],
    ['a frame beside a reference', 400, withReferences('famA-2', FIRST, IMAGE)],
    ['audio alone', 400, withReferences('famA-2', AUDIO)],
    ['four videos', 400, withReferences('famA-2', VIDEO, VIDEO, VIDEO, VIDEO)],
    ['an inline video', 400, withReferences('famA-2', [...VIDEO, 'data:video/mp4;base64,AAAA'])],
    ['an unknown part', 400, { model: 'famA-2', content: [{ type: 'sound' }] }],
    ['a video on 1.x', 400, withReferences('famA-1-lite', VIDEO)],
  ])('with %s gets %i', async (_name, status, body) => {
    const { submit } = await useVideo('p2')
    expect((await submit(body)).status).toBe(status)
  })
})
