import { describe, expect, it } from 'vitest'
import { withSection } from '../../lib/openapi/markdown.ts'

const TABLE = { name: 'alarms', command: 'tables', content: '| new |' } as const

describe('a generated section', () => {
  it('replaces what is between its markers and nothing else, however often it is written', () => {
    const page = '# Title\n\n<!-- alarms: written by npm run tables -->\nold\n<!-- end of alarms -->\n\nAfter.\n'
    const once = withSection(page, TABLE)
    expect(once).toBe(
      '# Title\n\n<!-- alarms: written by npm run tables -->\n\n| new |\n\n<!-- end of alarms -->\n\nAfter.\n',
    )
    expect(withSection(once, TABLE)).toBe(once)
  })

  it('refuses a page without its markers', () => {
    expect(() => withSection('# Title\n', TABLE)).toThrow('the page has no')
  })
})
