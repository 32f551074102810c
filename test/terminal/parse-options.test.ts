import { describe, expect, it } from 'vitest'
import { parseOptions, UsageError } from '../../lib/cli/terminal.ts'

const options = { port: { type: 'string', default: '1' }, quick: { type: 'boolean' } } as const

describe('the options of a command', () => {
  it('are read as they are declared', () => {
    expect({ ...parseOptions({ args: ['--quick'], options }).values }).toEqual({ port: '1', quick: true })
    const { positionals } = parseOptions({ args: ['a', '--port', '2', 'b'], options, allowPositionals: true })
    expect(positionals).toEqual(['a', 'b'])
  })

  it.each([[['--bogus']], [['--port']], [['word']], [['--quick=1']]])(
    'that are not understood (%j) are a mistake of the command line, not a fault',
    (args) => {
      expect(() => parseOptions({ args, options })).toThrow(UsageError)
    },
  )
})
