import { describe, expect, it } from 'vitest'
import { describeFindings, fine, warning, wrong } from '../../../lib/cli/findings.ts'

const good = fine('table', 'is there')
const bad = wrong('alarms', 'one rings', 'Look.')

describe('describe-findings', () => {
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
