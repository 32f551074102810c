import { describe, expect, it } from 'vitest'
import { COMMON_OPTIONS, readCommandLine } from '../../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'

describe('command-table', () => {
  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'the examples of %s are command lines that it accepts',
    (name, { examples }) => {
      expect(examples.length).toBeGreaterThan(0)
      for (const example of examples) {
        const words = example.replace(/ [|<>].*$/, '').match(/"[^"]*"|\S+/g) ?? []
        expect(
          readCommandLine(
            words.map((word) => word.replaceAll('"', '')),
            COMMANDS,
          ).command?.name,
        ).toBe(name)
      }
    },
  )

  it('no command has an option with the name of a common one', () => {
    for (const { name, options = {} } of COMMANDS) {
      expect([name, Object.keys(options).filter((option) => Object.hasOwn(COMMON_OPTIONS, option))]).toEqual([name, []])
    }
  })

  it('no two commands have the same name', () => {
    const names = COMMANDS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})
