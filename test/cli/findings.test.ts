import { describe, expect, it } from '@jest/globals'
import { describeFindings, fine, runCheck, warning, wrong } from '../../lib/cli/findings.ts'

describe('runCheck: a finding', () => {
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

const good = fine('table', 'is there')
const bad = wrong('alarms', 'one rings', 'Look.')

describe('describeFindings', () => {
  it('is ok when every finding is', () => {
    expect(describeFindings([good])).toEqual({
      json: { ok: true, findings: [good] },
      text: 'ok  table  is there',
      isOk: true,
    })
  })

  it('is ok with a warning, and has what to do below it', () => {
    const { json, text, isOk } = describeFindings([good, warning('quota', 'is low', 'Raise it.')])
    expect(isOk).toBe(true)
    expect(json).toMatchObject({ ok: true, findings: [{ verdict: 'ok' }, { verdict: 'warning' }] })
    expect(text.split('\n').map((line) => line.trim())).toEqual([
      'ok       table  is there',
      'warning  quota  is low',
      expect.stringMatching(/-> Raise it\.$/),
    ])
  })

  it('has what to do below what is wrong, and is not ok', () => {
    const { json, text, isOk } = describeFindings([good, bad])
    expect(isOk).toBe(false)
    expect(json).toEqual({ ok: false, findings: [good, bad] })
    expect(text.split('\n').map((line) => line.trim())).toEqual([
      'ok     table   is there',
      'WRONG  alarms  one rings',
      expect.stringMatching(/-> Look\.$/),
    ])
  })
})
