import type { Readable, Writable } from 'node:stream'
import { UsageError } from '../../terminal/usage-error.ts'
import { NotConfirmedError } from '../command-line/command-failed-error.ts'

/** A terminal, a pipe or a file. A terminal can hide the typed characters. */
export type SecretInput = Readable & {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
}

type SecretQuestion = {
  /** The name of the value, shown in the prompt. */
  readonly name: string
  /** True if the value comes from a pipe. */
  readonly fromStdin: boolean
  readonly input: SecretInput
  /** Receives the prompt, never the value. */
  readonly output: Writable
}

/** Longer than the key of any upstream. */
const CHARACTERS_MAX = 4_096

/** What an HTTP header carries of a bearer key (RFC 9110, "Field Values", without spaces). */
const HEADER_TEXT = /^[\x21-\x7e]+$/

const END_OF_LINE = /[\r\n]/
const INTERRUPT = '\x03'
const END_OF_TYPING = '\x04'
const BACKSPACES: readonly string[] = ['\b', '\x7f']

/**
 * Reads a secret value from a pipe, without its last line break, or from a terminal that hides it. The value is never an argument, so
 * it appears in no shell history and no process list.
 * @throws UsageError if there is neither, and for a value that cannot be a key; NotConfirmedError if the person cancels.
 */
export async function readSecretValue({ name, fromStdin, input, output }: SecretQuestion): Promise<string> {
  if (!fromStdin && input.isTTY !== true) {
    throw new UsageError(`there is no terminal to prompt for ${name}: pipe the value in, with --value-from-stdin`)
  }
  const value = fromStdin ? await readPiped(input) : await readTyped({ name, input, output })
  if (value === '') {
    throw new UsageError(`the value of ${name} is empty`)
  }
  if (value.length > CHARACTERS_MAX || !HEADER_TEXT.test(value)) {
    throw new UsageError(
      `the value of ${name} is no key: one line of at most ${CHARACTERS_MAX} visible ASCII characters without spaces`,
    )
  }
  return value
}

async function readPiped(input: SecretInput): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += String(chunk)
    if (text.length > 2 * CHARACTERS_MAX) {
      break
    }
  }
  return text.replace(/\r?\n$/, '')
}

async function readTyped({ name, input, output }: Omit<SecretQuestion, 'fromStdin'>): Promise<string> {
  output.write(`Value of ${name} (not shown): `)
  input.setRawMode?.(true)
  try {
    let typed = ''
    for await (const chunk of input) {
      for (const character of String(chunk)) {
        if (character === INTERRUPT) {
          throw new NotConfirmedError('nothing was changed')
        }
        if (END_OF_LINE.test(character) || character === END_OF_TYPING) {
          return typed
        }
        typed = BACKSPACES.includes(character) ? typed.slice(0, -1) : typed + character
      }
    }
    return typed
  } finally {
    input.setRawMode?.(false)
    output.write('\n')
  }
}
