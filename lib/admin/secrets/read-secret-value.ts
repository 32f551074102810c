import type { Readable, Writable } from 'node:stream'
import { UsageError } from '../../terminal/usage-error.ts'
import { NotConfirmedError } from '../command-line/command-failed-error.ts'

/** A terminal, a pipe or a file; a terminal can stop showing what is typed. */
export type SecretInput = Readable & {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
}

type SecretQuestion = {
  /** What the value is for, shown to the person who types it. */
  readonly name: string
  /** True when the value is piped in. */
  readonly fromStdin: boolean
  readonly input: SecretInput
  /** Where the question goes; never the answer. */
  readonly output: Writable
}

/** Longer than any key of an upstream. */
const CHARACTERS_MAX = 4_096

/** What an HTTP header carries of a bearer key (RFC 9110, "Field Values", without spaces). */
const HEADER_TEXT = /^[\x21-\x7e]+$/

const END_OF_LINE = /[\r\n]/
const INTERRUPT = '\x03'
const END_OF_TYPING = '\x04'
const BACKSPACES: readonly string[] = ['\b', '\x7f']

/**
 * Reads a secret value that was never an argument, so that no shell history and no list of processes has it: from a pipe,
 * whose last line break is not part of it, or from a terminal that does not show what is typed.
 * @throws UsageError without either, and for a value that no key can be; NotConfirmedError when the person leaves.
 */
export async function readSecretValue({ name, fromStdin, input, output }: SecretQuestion): Promise<string> {
  if (!fromStdin && input.isTTY !== true) {
    throw new UsageError(`there is no terminal to ask for ${name}: pipe it in and say --value-from-stdin`)
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
