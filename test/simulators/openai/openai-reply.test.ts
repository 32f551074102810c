import { describe, expect, it } from 'vitest'
import { longReply, replyTo, replyToTool } from '../../../lib/simulators/openai/openai-reply.ts'

describe('openai-reply', () => {
  it('quotes what was said, the same way each time', () => {
    const said = { prose: 'Hello', images: 0, choice: 0 }
    expect(replyTo(said)).toContain('“Hello”')
    expect(replyTo(said)).toBe(replyTo(said))
  })

  it('differs from one choice to the next', () => {
    const replies = [0, 1, 2, 3].map((choice) => replyTo({ prose: 'Hello', images: 0, choice }))
    expect(new Set(replies).size).toBe(4)
  })

  it.each([
    [1, 'Lovely picture,'],
    [2, 'Lovely pictures,'],
  ])('mentions %i images', (images, words) => {
    expect(replyTo({ prose: '', images, choice: 0 })).toContain(words)
  })

  it('cuts a long quote to sixty characters, never inside one', () => {
    expect(replyToTool('😀'.repeat(61))).toContain(`“${'😀'.repeat(59)}…”`)
    expect(replyToTool('😀'.repeat(60))).toContain(`“${'😀'.repeat(60)}”`)
  })

  it('has as many words as [long:N] asks for', () => {
    expect(longReply(100).split(' ')).toHaveLength(100)
  })
})
