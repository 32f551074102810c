import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProgressBar } from '../../lib/cli/terminal.ts'

const { isTTY } = process.stdout
const written: string[] = []

beforeEach(() => {
  written.length = 0
  vi.useFakeTimers()
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk))
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  process.stdout.isTTY = isTTY
})

function bar(seconds: number, isTerminal: boolean): ProgressBar {
  process.stdout.isTTY = isTerminal
  return new ProgressBar(seconds)
}

describe('progress-bar', () => {
  it('fills by the expected time on a terminal, in one line', () => {
    const progress = bar(10, true)
    vi.advanceTimersByTime(5_000)
    progress.draw('processing')
    progress.end()
    expect(written.join('')).toBe(`\r  [${'#'.repeat(15)}${'-'.repeat(15)}]   5.0 s  processing   \n`)
  })

  it('is full only when the job has succeeded, however late it is', () => {
    const progress = bar(10, true)
    vi.advanceTimersByTime(60_000)
    progress.draw('processing')
    progress.draw('succeeded')
    expect(written[0]).toContain('-]')
    expect(written[1]).toContain(`[${'#'.repeat(30)}]`)
  })

  it('writes one line per status where nobody watches', () => {
    const progress = bar(10, false)
    for (const status of ['queued', 'processing', 'processing', 'succeeded']) {
      progress.draw(status)
    }
    progress.end()
    expect(written.map((line) => line.trim().split('  ').at(-1))).toEqual(['queued', 'processing', 'succeeded'])
  })
})
