import { describe, expect, it } from '@jest/globals'
import { imageBlobs } from '#web/core/playground/image-blobs.ts'
import {
  FIRST_IMAGE_CHOICE,
  fitImageChoice,
  imageBody,
  imageCountLimit,
  sharedValues,
} from '#web/core/playground/image-choice.ts'

const single = { id: 'single', sizes: ['1x1', '2x1'], qualities: ['standard', 'hd'], styles: ['vivid'], n: { max: 1 } }
const many = { id: 'many', sizes: ['3x3', '1x1'], n: { max: 10 } }

describe('the choice of an image', () => {
  it('sharedValues are those that every model takes; a model without a parameter takes none of its values', () => {
    expect(sharedValues([single], 'sizes')).toEqual(['1x1', '2x1'])
    expect(sharedValues([single, many], 'sizes')).toEqual(['1x1'])
    expect(sharedValues([single, many], 'qualities')).toEqual([])
    expect(sharedValues([], 'sizes')).toEqual([])
  })

  it('imageCountLimit is the lowest one, and names the models that make one image', () => {
    expect(imageCountLimit([many])).toEqual({ max: 10 })
    expect(imageCountLimit([many, single])).toEqual({ max: 1, refusal: 'single takes one image a request' })
    expect(imageCountLimit([single, { id: 'old' }])).toEqual({
      max: 1,
      refusal: 'single and old take one image a request',
    })
  })

  it('fitImageChoice drops what the models do not take, and keeps the rest', () => {
    const choice = { prompt: 'a fox', size: '3x3', quality: 'hd', style: 'vivid', count: 4 }
    expect(fitImageChoice(choice, [single])).toEqual({ ...choice, size: '', count: 1 })
    expect(fitImageChoice(choice, [many])).toEqual({ ...choice, quality: '', style: '' })
    expect(fitImageChoice({ ...choice, count: 0 }, [many])).toMatchObject({ count: 1 })
  })

  it('imageBody has what was chosen, and leaves the rest to the model', () => {
    expect(imageBody('many', { ...FIRST_IMAGE_CHOICE, prompt: 'a fox' })).toEqual({
      model: 'many',
      prompt: 'a fox',
      n: 1,
      response_format: 'b64_json',
    })
    const chosen = { prompt: 'a fox', size: '1x1', quality: 'hd', style: 'vivid', count: 2 }
    expect(imageBody('single', chosen)).toMatchObject({ size: '1x1', quality: 'hd', style: 'vivid', n: 2 })
  })
})

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

describe('imageBlobs', () => {
  it('takes the images of known formats and says what it leaves out', async () => {
    const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    const { blobs, note } = imageBlobs({
      data: [{ b64_json: PNG }, { b64_json: svg }, { url: 'https://upstream.example/1.png' }, null],
    })
    expect(blobs.map(({ type }) => type)).toEqual(['image/png'])
    expect(Buffer.from(await (blobs[0] ?? new Blob([])).arrayBuffer()).toString('base64')).toBe(PNG)
    expect(note).toMatch(/^Not shown.*: 3 of 4 images$/)
  })

  it.each([null, {}, { data: 'x' }])('finds nothing in %j', (response) => {
    expect(imageBlobs(response)).toEqual({ blobs: [], note: undefined })
  })
})
