import { usageOf } from '../admin/command-line/admin-program.ts'
import { COMMANDS } from '../admin/command-line/command-table.ts'
import { code, markdownTable } from './markdown-table.ts'

/** Every admin command with its usage and summary, in the order of the help. */
export function commandTable(): string {
  return markdownTable(
    ['Command', 'Does'],
    COMMANDS.map((command) => [code(usageOf(command)), command.summary]),
  )
}
