import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { DEFAULT_BEHAVIOUR, type SimulatorOptions } from '../../../lib/simulators/shared/behaviour.ts'
import { openAccount } from '../../../lib/simulators/shared/simulated-account.ts'

const KIND = {
  detailsSchema: z.object({ ratio: z.string(), seconds: z.number() }),
  retentionSeconds: 100,
  behaviour: { pollsPerSecond: 20, runSeconds: 9 },
}
const TASK = { id: 'one', prompt: 'a cat', submittedAtMs: 0, limitSeconds: 50, details: { ratio: '16:9', seconds: 5 } }
const open = (options: SimulatorOptions = {}) => openAccount({ now: () => 1_000, ...options }, KIND)

describe('simulated-account', () => {
  it('behaves as its starter says, else as its upstream usually does, else as all do', () => {
    expect(open({ behaviour: { runSeconds: 1 } }).behaviour).toEqual({
      ...DEFAULT_BEHAVIOUR,
      pollsPerSecond: 20,
      runSeconds: 1,
    })
  })

  it('limits polls to the rate of its behaviour', () => {
    const { polls } = open({ behaviour: { pollsPerSecond: 2 } })
    expect([polls.take(), polls.take(), polls.take()]).toEqual([true, true, false])
  })

  it('forgets a task after the retention of its upstream', () => {
    let nowMilliseconds = 99_999
    const { tasks } = open({ now: () => nowMilliseconds })
    tasks.add(TASK)
    expect(tasks.find('one')).toBeDefined()
    nowMilliseconds = 100_000
    expect(tasks.find('one')).toBeUndefined()
  })

  it('opens with the tasks of its state file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'reelgate-account-'))
    const stateFile = join(directory, 'tasks.jsonl')
    open({ stateFile }).tasks.add(TASK)
    expect(open({ stateFile }).tasks.find('one')?.details).toEqual(TASK.details)
    rmSync(directory, { recursive: true })
  })
})
