import type { Item, NamedWrites, Table } from '#store/table/table.ts'
import { type AdminContext, type Command, CommandValues } from '../../../lib/cli/admin/command.ts'
import type { Output } from '../../../lib/cli/output.ts'

type Surroundings = Partial<Omit<AdminContext, 'table' | 'output'>> & {
  readonly table?: Table
  /** By name; `true` for a switch, a parameter by its name in capitals. */
  readonly options?: Readonly<Record<string, string | true | undefined>>
  readonly outputs?: Readonly<Record<string, string>>
}

/** Runs one command in this process, as if its command line had been read. Everything is confirmed unless said. */
export function runCommand(command: Command, surroundings: Surroundings): Promise<Output> {
  const { table, options = {}, outputs = {}, ...context } = surroundings
  const given = Object.entries(options).flatMap(([name, value]): [string, string | true][] =>
    value === undefined ? [] : [[name, value]],
  )
  return command.run(
    {
      local: false,
      stage: 'dev',
      dataDirectory: '.data',
      json: false,
      table: async () => found(table, 'table'),
      actor: async () => ({ name: 'tester@test', role: 'operator' }),
      output: async (name) => found(outputs[name], name),
      resources: async () => [],
      confirm: async () => undefined,
      warn: () => undefined,
      write: async () => undefined,
      ...context,
    },
    new CommandValues(new Map(given)),
  )
}

function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) {
    throw new Error(`the test has no ${name}`)
  }
  return value
}

/** A table for commands whose effects are outside of it: it keeps the entries of the audit log, and has nothing else. */
export function recordingTable(): { readonly table: Table; readonly entries: Item[] } {
  const entries: Item[] = []
  const nothing = async () => {
    throw new Error('the command reads or changes the table')
  }
  const transact = async (writes: NamedWrites) => {
    const { audit, ...others } = writes
    if (audit === undefined || !('Put' in audit) || Object.keys(others).length > 0) {
      return await nothing()
    }
    entries.push(audit.Put.Item)
  }
  return {
    table: { transact, readItem: nothing, readItems: nothing, queryPage: nothing, updateItem: nothing },
    entries,
  }
}
