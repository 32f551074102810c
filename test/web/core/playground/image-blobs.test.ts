import { describe, expect, it } from 'vitest'
import { imageBlobs } from '../../../../web/src/core/playground/image-blobs.ts'

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
