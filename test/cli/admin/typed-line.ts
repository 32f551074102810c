import type { Terminal } from '../../../lib/cli/admin/admin-context.ts'
import type { AdminContext, Command, CommandValues } from '../../../lib/cli/admin/command.ts'
import { runCommandLine } from '../../../lib/cli/admin/command-line.ts'

export type Run = (
  context: AdminContext,
  values: CommandValues,
) => Promise<{ json: unknown; text: string; isOk?: boolean }>

type Person = { readonly isInteractive?: boolean; readonly typed?: string }

const OPEN_BOX = {
  name: 'box open',
  summary: 'open a box',
  options: {
    box: { value: 'ID', summary: 'which box', required: true },
    depth: { value: 'N', summary: 'how deep' },
    lid: { summary: 'with its lid' },
  },
  examples: ['box open --box 1'],
} as const

const LABEL_BOX: Command = {
  name: 'box label',
  summary: 'label a box',
  parameters: [{ name: 'TEXT', summary: 'the label', required: true }],
  examples: ['box label fragile'],
  run: async (_, values) => ({ json: values.required('TEXT'), text: values.required('TEXT') }),
}

const done: Run = async () => ({ json: { done: true }, text: 'it is done' })

/** Types a line at a program with the commands `box open`, which does what `run` does, and `box label`. */
export function typeLine(line: string, { run = done, ...person }: Person & { readonly run?: Run } = {}) {
  return typeWords(line.split(' ').filter(Boolean), [{ ...OPEN_BOX, run }, LABEL_BOX], person)
}

/** The exit code of a command line, and everything on its terminal, where a person types `typed` when asked. */
export async function typeWords(
  words: readonly string[],
  commands: readonly Command[],
  { isInteractive = false, typed = '' }: Person = {},
) {
  const shown = { out: '', error: '', asked: [] as string[] }
  const terminal: Terminal = {
    isInteractive,
    ask: async (question) => {
      shown.asked.push(question)
      return typed
    },
    write: async (text) => {
      shown.out += text
    },
    writeError: (text) => {
      shown.error += text
    },
  }
  return { code: await runCommandLine(words, { commands, terminal }), ...shown }
}
