import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { runDemo } from '../../lib/cli/demo.ts'

const before = { ...process.env }
afterEach(() => {
  jest.restoreAllMocks()
  process.env = before
})

describe('runDemo', () => {
  it('shows a job from its request to its video, a chat, an embedding and a balanced ledger', async () => {
    const printed: string[] = []
    jest.spyOn(console, 'log').mockImplementation((line = '') => void printed.push(String(line)))
    const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true)
    await runDemo()
    const text = printed.join('\n')
    for (const part of [
      'POST /v1/video/generations',
      'The callback arrived and its signature is valid',
      'bytes of video/mp4, 5',
      'bytes 4-7 alone: 206 "ftyp"',
      'ledger before: available 100, held 0, spent 0 credits',
      'ledger after: ',
      'ledger verify: every invariant holds',
    ]) {
      expect(text).toContain(part)
    }
    // Nor a line of the log among them.
    expect(`${text}${written.mock.calls.join('')}`).not.toContain('"level"')
  })
})
