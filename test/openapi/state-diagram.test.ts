import { describe, expect, it } from '@jest/globals'
import { stateDiagram } from '../../lib/openapi/state-diagram.ts'

const DEFINITION = {
  StartAt: 'Ask',
  States: {
    Ask: { Type: 'Task', Next: 'AfterAsk', Catch: [{ Next: 'GiveUp' }] },
    AfterAsk: {
      Type: 'Choice',
      Choices: [
        { StringEquals: 'again', Next: 'WaitABit' },
        { StringEquals: 'tell', Next: 'Tell' },
        { StringEquals: 'fail', Next: 'GiveUp' },
      ],
      Default: 'Done',
    },
    WaitABit: { Type: 'Wait', Next: 'Ask' },
    GiveUp: { Type: 'Task', Next: 'AfterGiveUp' },
    AfterGiveUp: { Type: 'Choice', Choices: [{ StringEquals: 'again', Next: 'Ask' }], Default: 'Tell' },
    Tell: { Type: 'Task', End: true },
    Done: { Type: 'Succeed' },
  },
}

describe('the diagram of a state machine', () => {
  it('draws choices as named ways out of their task, the success as the end, and what fails alike in one box', () => {
    expect(
      stateDiagram(DEFINITION)
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      'stateDiagram-v2',
      'direction TB',
      'state "any failure in this box goes to Give up" as Box {',
      'state "Wait a bit" as WaitABit',
      'Ask --> WaitABit : again',
      'WaitABit --> Ask',
      '}',
      'state "Give up" as GiveUp',
      'Box --> GiveUp',
      '[*] --> Ask',
      'Ask --> Tell : tell',
      'Ask --> [*] : done',
      'GiveUp --> Ask : again',
      'GiveUp --> Tell',
      'Tell --> [*]',
    ])
  })
})
