import { describe, expect, it } from 'vitest'
import { fine, runCheck, warning, wrong } from '../../../lib/cli/findings.ts'

describe('finding', () => {
  it('has advice exactly where there is something to do', () => {
    expect(fine('table', 'is there')).toEqual({ check: 'table', verdict: 'ok', message: 'is there', advice: null })
    expect(warning('table', 'is large', 'Wait.')).toMatchObject({ verdict: 'warning', advice: 'Wait.' })
    expect(wrong('table', 'is gone', 'Deploy.')).toMatchObject({ verdict: 'wrong', advice: 'Deploy.' })
  })

  it('is what a check found', async () => {
    const findings = [fine('table', 'is there')]
    expect(await runCheck({ name: 'table', run: async () => findings })).toBe(findings)
  })

  it.each([
    [new Error('boom'), 'could not be checked: Error: boom'],
    [new Error('Region is missing'), 'could not be checked: no AWS region is set'],
  ])('says that a check failed with %s', async (error, sentence) => {
    const findings = await runCheck({ name: 'table', run: () => Promise.reject(error) })
    expect(findings).toMatchObject([{ check: 'table', verdict: 'wrong', message: expect.stringContaining(sentence) }])
  })
})
