import { describe, expect, it } from 'vitest'
import {
  FIRST_IMAGE_CHOICE,
  fitImageChoice,
  imageBody,
  imageCountLimit,
  sharedValues,
} from '../../../../web/src/core/playground/image-choice.ts'

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
