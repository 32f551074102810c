import { describe, expect, it } from '@jest/globals'
import { CONSOLE_PAGES, consolePath } from '#core/console/console-pages.ts'

describe('consolePath', () => {
  it('is a path of the console for every index, whatever a cookie says', () => {
    expect(consolePath(0)).toBe('/console')
    expect(consolePath(CONSOLE_PAGES.indexOf('videos'))).toBe('/console/videos')
    for (const index of [-1, 99, 0.5, Number.NaN]) {
      expect(consolePath(index)).toBe('/console')
    }
  })
})
