import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readSecretValue } from '../../../lib/cli/admin/secrets.ts'
import { NotConfirmedError } from '../../../lib/cli/failures.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'

/** Asks for a value that is piped in. */
function pipe(...chunks: string[]): Promise<string> {
  const input = new PassThrough()
  for (const chunk of chunks) {
    input.write(chunk)
  }
  input.end()
  return readSecretValue({ name: 'A_KEY', fromStdin: true, input, output: new PassThrough() })
}

/** Asks on a terminal where somebody types; what the terminal shows, and whether it showed typing. */
function terminal() {
  const raw: boolean[] = []
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void raw.push(isRaw),
  })
  const output = new PassThrough()
  const value = readSecretValue({ name: 'A_KEY', fromStdin: false, input, output })
  return { input, raw, value, shown: () => String(output.read()) }
}

describe('a secret value', () => {
  it.each([
    ['with one line break at its end, which is not part of it', ['sk-1\n'], 'sk-1'],
    ['with the line break of another system', ['sk-1\r\n'], 'sk-1'],
    ['in pieces, without one', ['sk', '-', '1'], 'sk-1'],
  ])('comes from a pipe %s', async (_, chunks, value) => {
    expect(await pipe(...chunks)).toBe(value)
  })

  it.each([
    ['nothing', ''],
    ['an empty line', '\n'],
    ['two lines', 'sk-1\nsk-2\n'],
    ['a space', 'sk 1'],
    ['a letter that no header carries', 'sk-ü'],
    ['more than any key', 'x'.repeat(5_000)],
  ])('that is %s is refused without being repeated', async (_, text) => {
    const error = await pipe(text).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(UsageError)
    expect(String(error)).not.toMatch(/sk|xxx/)
  })

  it('is asked for on a terminal that does not show it', async () => {
    const { input, raw, value, shown } = terminal()
    input.write('sk')
    input.write('-x\x7f1')
    input.write('\r')
    expect(await value).toBe('sk-1')
    expect(raw).toEqual([true, false])
    expect(shown()).toBe('Value of A_KEY (not shown): \n')
  })

  it('is not taken from a person who leaves, and the terminal is as before', async () => {
    const { input, raw, value } = terminal()
    input.write('sk-1\x03')
    await expect(value).rejects.toBeInstanceOf(NotConfirmedError)
    expect(raw).toEqual([true, false])
  })

  it('is not waited for where there is neither a terminal nor the word that it is piped in', async () => {
    const input = new PassThrough()
    const value = readSecretValue({ name: 'A_KEY', fromStdin: false, input, output: new PassThrough() })
    await expect(value).rejects.toThrow('--value-from-stdin')
  })
})
