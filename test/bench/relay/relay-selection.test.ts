import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Run } from '../../../bench/relay/case-medians.ts'
import { RELAY_CASES } from '../../../bench/relay/relay-cases.ts'
import { RunLog, selectRelay } from '../../../bench/relay/relay-selection.ts'
import { TARGETS } from '../../../bench/relay/relay-targets.ts'
import { UsageError } from '../../../lib/terminal/usage-error.ts'

const RUN: Run = {
  target: 'priced',
  caseName: 'JSON, 16',
  isUndisturbed: true,
  figures: {
    requests: 1,
    failures: {},
    total: { p50: 1, p99: 2 },
    firstByte: { p50: 1, p99: 2 },
    perSecond: 3,
    residentBytes: 4,
    cpuMilliseconds: 5,
    engineCpuMilliseconds: 6,
    busy: [1, 0],
  },
}

describe('the selection of what is measured of the relay', () => {
  it('is everything without options', () => {
    expect(selectRelay({})).toEqual({ cases: RELAY_CASES, targets: TARGETS, rounds: undefined })
  })

  it('is what is named, in the order of the tables', () => {
    const { cases, targets, rounds } = selectRelay({
      cases: ['stream, 64', 'JSON, 16'],
      targets: ['priced', 'portkey'],
      rounds: '2',
    })
    expect([cases.map(({ name }) => name), targets, rounds]).toEqual([
      ['JSON, 16', 'stream, 64'],
      ['portkey', 'priced'],
      2,
    ])
  })

  it.each([
    [{ cases: ['JSON'] }, /no case JSON; one of: "JSON, 1", /],
    [{ targets: ['ours'] }, /no target ours; one of: "direct", /],
    [{ rounds: '0' }, /--rounds is a number from 1 to 20/],
    [{ rounds: 'many' }, /--rounds is a number/],
  ])('refuses %o', (options, message) => {
    expect(() => selectRelay(options)).toThrow(UsageError)
    expect(() => selectRelay(options)).toThrow(message)
  })
})

describe('the runs of a measurement', () => {
  it('in a file count for the next measurement too', () => {
    const directory = mkdtempSync(join(tmpdir(), 'runs-'))
    try {
      const file = join(directory, 'runs.jsonl')
      new RunLog(file).add(RUN)
      const next = new RunLog(file)
      next.add({ ...RUN, target: 'portkey' })
      expect(new RunLog(file).runs).toEqual([RUN, { ...RUN, target: 'portkey' }])
      expect(next.runs).toHaveLength(2)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
