import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lineOf, printingObserver, verdictLine } from '../../lib/cli/smoke/smoke.ts'

const step = { name: 'models', verdict: 'passed', milliseconds: 12, text: '2 models' } as const

describe('print-smoke: lineOf', () => {
  it.each([
    [step, 'ok   models      2 models  (12 ms)'],
    [{ ...step, verdict: 'skipped' as const }, 'skip models      2 models'],
    [
      { ...step, verdict: 'failed' as const, lookAt: 'the key' },
      `FAIL models      2 models  (12 ms)\n${' '.repeat(17)}look at: the key`,
    ],
  ])('has the verdict, the name, the result, the time and where to look (%#)', (verdict, line) => {
    expect(lineOf(verdict)).toBe(line)
  })
})

describe('print-smoke: verdictLine', () => {
  it('counts the steps that passed', () => {
    const failed = { ...step, verdict: 'failed' as const }
    expect(verdictLine({ ok: false, steps: [step, failed] })).toBe('\nFAILED: 1 of 2 steps')
    expect(verdictLine({ ok: true, steps: [step] })).toBe('\npassed: 1 of 1 steps')
  })
})

describe('print-smoke: printingObserver', () => {
  const lines: string[] = []
  beforeEach(() => {
    vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('prints the announcement, the progress and the verdict in their order', () => {
    const observer = printingObserver()
    observer.announce('It costs 0.7 credits.')
    observer.progress('processing')
    observer.end(step)
    expect(lines.join(' ').replaceAll('\n', ' ')).toMatch(/It costs.*processing.*ok {3}models/)
  })
})
