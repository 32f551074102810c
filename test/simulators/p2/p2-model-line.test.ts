import { describe, expect, it } from 'vitest'
import { p2ModelLine } from '../../../lib/simulators/p2/p2-model-line.ts'

describe('p2-model-line', () => {
  it.each([
    ['famA-1-pro-250528', { generation: 1, defaultResolution: '1080p', referenceImagesMax: 0, images: 'allowed' }],
    ['famA-1-lite-t2v', { generation: 1, defaultResolution: '720p', images: 'none' }],
    ['famA-1-lite-i2v', { generation: 1, images: 'required' }],
    ['famA-2-0-260128', { generation: 2, resolutions: ['480p', '720p', '1080p', '4k'], hasAutoDuration: true }],
    ['famA-2-fast', { generation: 2, resolutions: ['480p', '720p'], hasAutoDuration: false }],
    ['intl-famA-2-lite', { name: 'famA-2-lite', resolutions: ['480p', '720p'] }],
  ])('reads the limits of %s off its id', (id, line) => {
    expect(p2ModelLine(id)).toMatchObject(line)
  })

  it.each(['famB-1.1-t2v', 'famA-3', 'xfamA-2', 'famA-1', ''])('knows no model %j', (id) => {
    expect(p2ModelLine(id)).toBeUndefined()
  })
})
