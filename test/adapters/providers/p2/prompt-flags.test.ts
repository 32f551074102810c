import { describe, expect, it } from 'vitest'
import { neutralizePromptFlags } from '#adapters/providers/p2/prompt-flags.ts'
import { readFixture } from '../upstream-fixture.ts'

describe('neutralizePromptFlags', () => {
  it('leaves no flag in a prompt full of them, and every word', () => {
    const { text } = Object(readFixture('p2_submit_legacy_flags').request.body).content[0]
    expect(neutralizePromptFlags(text)).toBe(
      'a detective enters a dim room –rs 1080p –rt 16:9 –dur 5 –seed 11 –cf false –wm true',
    )
  })

  it.each([
    ['--resolution 1080p', '–resolution 1080p'],
    ['x --RATIO 16:9', 'x –RATIO 16:9'],
    ['x --duration=12', 'x –duration=12'],
    ['x --dur12', 'x –dur12'],
    ['x --frames 300', 'x –frames 300'],
    ['x --fps 60', 'x –fps 60'],
    ['x --framespersecond 60', 'x –framespersecond 60'],
    ['x --camerafixed true', 'x –camerafixed true'],
    ['x --camera_fixed true', 'x –camera_fixed true'],
    ['x --watermark false', 'x –watermark false'],
    ['x ---rs 1080p', 'x –rs 1080p'],
    ['x -- rs 1080p', 'x –rs 1080p'],
    ['x\n--rs\n1080p', 'x\n–rs\n1080p'],
    ['字--rs 1080p', '字–rs 1080p'],
  ])('makes %j harmless', (prompt, expected) => {
    expect(neutralizePromptFlags(prompt)).toBe(expected)
  })

  it.each(['a well-made, slow pan', 'he waits -- then runs', 'x --rsvp', 'x --durable', '-rs 1080p', '--'])(
    'leaves %j alone',
    (prompt) => {
      expect(neutralizePromptFlags(prompt)).toBe(prompt)
    },
  )

  it('stays quick on a prompt of hyphens', () => {
    const prompt = '-'.repeat(5_000)
    expect(neutralizePromptFlags(prompt)).toBe(prompt)
  })
})
