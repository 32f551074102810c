import { printableJson, printableLines } from '#core/redaction.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { createAdminContext, type Terminal } from '../deployment/admin-context.ts'
import { CALL, CommandLineError, usageOf } from './admin-program.ts'
import type { AdminContext, Command } from './command.ts'
import { readCommandLine } from './command-line.ts'
import type { CommandValues } from './command-values.ts'
import { explainFailure } from './explain-failure.ts'

/** 0: done. 1: the command failed, or found something wrong. 2: the command line is invalid. */
export type ExitCode = 0 | 1 | 2

type Surroundings = {
  readonly commands: readonly Command[]
  readonly terminal: Terminal
  /** Replaced by tests. */
  readonly createContext?: (values: CommandValues, terminal: Terminal) => AdminContext
}

/**
 * Runs one command line. The output goes to stdout. An error goes to stderr: one sentence, followed by the usage if the command line is
 * wrong, or with `--json` the line `{"error": "..."}`.
 */
export async function runCommandLine(parameters: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  try {
    return await run(parameters, surroundings)
  } catch (error) {
    const { terminal } = surroundings
    if (parameters.includes('--json')) {
      terminal.writeError(`${printableJson({ error: explainFailure(error) ?? String(error) })}\n`)
    } else if (error instanceof UsageError) {
      const command = error instanceof CommandLineError ? error.command : undefined
      terminal.writeError(`${printableLines(error.message)}\n\n${usage(command)}\n`)
    } else {
      terminal.writeError(`${printableLines(explainFailure(error) ?? stackOf(error))}\n`)
    }
    return error instanceof UsageError ? 2 : 1
  }
}

async function run(parameters: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { commands, terminal, createContext = createAdminContext } = surroundings
  const line = readCommandLine(parameters, commands)
  if (line.command === undefined) {
    await terminal.write(line.help)
    return 0
  }
  const { command, values } = line
  try {
    const { json, text, isOk = true } = await command.run(createContext(values, terminal), values)
    if (json !== undefined) {
      await terminal.write(`${values.has('json') ? printableJson(json) : printableLines(text)}\n`)
    }
    return isOk ? 0 : 1
  } catch (error) {
    throw error instanceof UsageError ? new CommandLineError(error.message, command) : error
  }
}

function usage(command: Command | undefined): string {
  return command === undefined
    ? `\`${CALL} --help\` lists the commands.`
    : `usage: ${CALL} ${usageOf(command)}\n\`${CALL} ${command.name} --help\` explains it.`
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : String(error)
}
