import { describe, expect, it } from 'vitest'
import { EXECUTION_STARTED, orderTimeline, type TimelineEntry, timeText } from '../../../lib/cli/admin/job-timeline.ts'

const CREATED = { at: 1_100, event: 'created' }
const RESERVED = { at: 1_150, event: 'reserved 0.7' }
const STARTED = { at: 1_300, event: EXECUTION_STARTED, execution: 'a' }
const SUBMIT = { at: 1_400, event: 'Submit', execution: 'a' }
const CLAIMED = { at: 1_100, event: 'claimed', doneBy: 'Submit' } as const

const eventsOf = (entries: readonly TimelineEntry[]) => orderTimeline(entries).map(({ event }) => event)

describe('a timeline', () => {
  it('has what is known to the second behind the step that did it', () => {
    expect(eventsOf([CREATED, CLAIMED, RESERVED, STARTED, SUBMIT, { at: 1_500, event: 'execution aborted' }])).toEqual([
      'created',
      'reserved 0.7',
      'execution started',
      'Submit',
      'claimed',
      'execution aborted',
    ])
    const found = { at: 9_000, event: 'found finished', doneBy: 'Poll' } as const
    expect(eventsOf([found, { at: 9_700, event: 'Poll' }, { at: 9_900, event: 'Store' }])).toEqual([
      'Poll',
      'found finished',
      'Store',
    ])
  })

  it('has it behind the beginning of the execution where no steps are kept, and else where it can have been first', () => {
    expect(eventsOf([CLAIMED, STARTED, CREATED, RESERVED])).toEqual([
      'created',
      'reserved 0.7',
      'execution started',
      'claimed',
    ])
    expect(eventsOf([CLAIMED, RESERVED, CREATED])).toEqual(['created', 'reserved 0.7', 'claimed'])
    const later = { ...STARTED, at: 2_100 }
    expect(eventsOf([later, CLAIMED, CREATED])).toEqual(['created', 'claimed', 'execution started'])
  })

  it('shows milliseconds only where they are known', () => {
    expect([CREATED, CLAIMED].map(timeText)).toEqual(['1970-01-01T00:00:01.100Z', '1970-01-01T00:00:01Z'])
  })
})
