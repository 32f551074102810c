import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCapacityOptions } from '../../../bench/capacity/capacity-options.ts'
import { QUOTED_SECTIONS, withQuotedSections } from '../../../bench/capacity/quoted-pages.ts'
import { type ReportSection, reportCapacity } from '../../../bench/capacity/report.ts'
import { UsageError } from '../../../lib/terminal/usage-error.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

let report: readonly ReportSection[]
beforeAll(() => {
  const { options } = readCapacityOptions([]) ?? {}
  if (options !== undefined) {
    report = reportCapacity({ ...options, progress: () => {} })
  }
}, 60_000)

describe('a page that quotes the capacity report', () => {
  it.each(Object.entries(QUOTED_SECTIONS))(
    '%s has the figures that the command prints (else: npm run capacity -- --write)',
    (path, names) => {
      const page = readFileSync(join(ROOT, path), 'utf8')
      expect(page).toBe(withQuotedSections(page, names, report))
    },
  )

  it('cannot quote a section that the report has not', () => {
    expect(() => withQuotedSections('', ['nothing'], report)).toThrow('the report has no section "nothing"')
  })
})

describe('the command line of the capacity report', () => {
  it('writes pages with the defaults only', () => {
    expect(readCapacityOptions(['--write'])).toMatchObject({ isWriting: true, options: { tenants: 20 } })
    expect(() => readCapacityOptions(['--write', '--jobs', '5'])).toThrow(UsageError)
  })

  it('takes every assumption and limit, and names what is wrong with one', () => {
    const given = ['--event-bytes', '100', '--web-rate-factor', '2', '--budgets', '7', '--limit', 'start-execution=900']
    expect(readCapacityOptions(given)?.options).toMatchObject({
      assumptions: { eventBytes: 100, webRateFactor: 2, budgets: 7, downloads: 2 },
      limits: { 'start-execution': 900, 'open-executions': 1_000_000 },
    })
    expect(() => readCapacityOptions(['--event-bytes', '0'])).toThrow('--event-bytes 0: use a number above 0')
    expect(() => readCapacityOptions(['--limit', 'polls=1'])).toThrow('there is no polls')
  })
})
