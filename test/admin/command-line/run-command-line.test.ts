import { describe, expect, it } from 'vitest'
import type { AdminContext } from '../../../lib/cli/admin/command.ts'
import { CommandFailedError } from '../../../lib/cli/failures.ts'
import { type Run, typeLine } from './typed-line.ts'

describe('run-command-line', () => {
  it('prints text for a person, and one line of JSON for a program', async () => {
    expect(await typeLine('box open --box 1')).toMatchObject({ code: 0, out: 'it is done\n', error: '' })
    expect(await typeLine('box open --box 1 --json')).toMatchObject({ code: 0, out: '{"done":true}\n', error: '' })
  })

  it('a command that finds something wrong prints it and exits 1', async () => {
    const run: Run = async () => ({ json: { ok: false }, text: 'wrong', isOk: false })
    expect(await typeLine('box open --box 1 --json', { run })).toMatchObject({
      code: 1,
      out: '{"ok":false}\n',
      error: '',
    })
  })

  it('a usage error of the command itself exits 2, with the usage', async () => {
    const run: Run = async (_, values) => ({ json: values.count('depth'), text: '' })
    for (const depth of ['0', '-1', '+1', '1.5', '1e3', '0x10', 'x', '9007199254740993']) {
      const { code, error } = await typeLine(`box open --box 1 --depth=${depth}`, { run })
      expect({ code, error }).toEqual({
        code: 2,
        error: expect.stringContaining(`--depth ${depth}: use a whole number`),
      })
      expect(error).toContain('usage: npm run admin -- box open')
    }
  })

  it('a command that fails exits 1: with one sentence for a known error, with the stack for a bug', async () => {
    const failing =
      (error: Error): Run =>
      () =>
        Promise.reject(error)
    expect(
      await typeLine('box open --box 1', { run: failing(new CommandFailedError('the box is glued')) }),
    ).toMatchObject({
      code: 1,
      out: '',
      error: 'the box is glued\n',
    })
    const bug = await typeLine('box open --box 1', { run: failing(new TypeError('undefined is not a box')) })
    expect(bug).toMatchObject({ code: 1, error: expect.stringMatching(/TypeError: undefined is not a box\n\s+at /) })
    const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' })
    expect(await typeLine('box open --box 1', { run: failing(refused) })).toMatchObject({
      error: expect.stringMatching(/^ECONNREFUSED: the service cannot be reached/),
    })
  })

  it('with --json every error is one line of JSON on stderr, and stdout stays empty', async () => {
    const run: Run = () => Promise.reject(new Error('odd'))
    expect(await typeLine('box open --json')).toMatchObject({
      code: 2,
      out: '',
      error: '{"error":"--box is missing"}\n',
    })
    expect(await typeLine('box open --box 1 --json', { run })).toMatchObject({
      code: 1,
      error: '{"error":"Error: odd"}\n',
    })
  })

  it('control sequences are escaped on a terminal, and exact in the JSON', async () => {
    const hostile = 'a\x1b]0;b\x07\x9b2J\u202e\u2028c'
    const shown = 'a\\u{1b}]0;b\\u{7}\\u{9b}2J\\u{202e}\\u{2028}c'
    const answering: Run = async (context) => {
      context.warn(hostile)
      return { json: { hostile }, text: `${hostile}\nnext` }
    }
    expect(await typeLine('box open --box 1', { run: answering })).toMatchObject({
      out: `${shown}\nnext\n`,
      error: `warning: ${shown}\n`,
    })
    const { out } = await typeLine('box open --box 1 --json', { run: answering })
    expect(JSON.parse(out)).toEqual({ hostile })
    expect(out).toMatch(/^[ -~]*\n$/)
    const run: Run = () => Promise.reject(new CommandFailedError(hostile))
    expect(await typeLine('box open --box 1', { run })).toMatchObject({ error: `${shown}\n` })
    const asking: Run = async (context) => {
      await context.confirm(`${hostile}\nb`)
      return { json: {}, text: '' }
    }
    const { asked } = await typeLine('box open --box 1', { run: asking, isInteractive: true })
    expect(asked).toEqual([`${shown}\\u{a}b. Go on? [y/N] `])
    expect((await typeLine(`box open --${hostile}`)).error.split('\n')[0]).toContain(`no option --${shown}`)
  })

  it('a question stops the command unless the answer is yes', async () => {
    const run: Run = async (context) => {
      await context.confirm('The box will be burnt')
      return { json: {}, text: 'burnt' }
    }
    const asked = ['The box will be burnt. Go on? [y/N] ']
    const person = { run, isInteractive: true }
    expect(await typeLine('box open --box 1', { ...person, typed: ' YES ' })).toMatchObject({
      code: 0,
      out: 'burnt\n',
      asked,
    })
    expect(await typeLine('box open --box 1', { ...person, typed: 'n' })).toEqual({
      code: 1,
      out: '',
      error: 'nothing was changed\n',
      asked,
    })
    expect(await typeLine('box open --box 1 --yes', person)).toMatchObject({ code: 0, out: 'burnt\n', asked: [] })
  })

  it('a question that nobody can answer is a usage error, unless the command goes on unattended', async () => {
    const asking =
      (options?: Parameters<AdminContext['confirm']>[1]): Run =>
      async (context) => {
        await context.confirm('The box will be burnt', options)
        return { json: {}, text: 'burnt' }
      }
    expect(await typeLine('box open --box 1', { run: asking() })).toMatchObject({
      code: 2,
      error: expect.stringContaining('say --yes'),
    })
    const program = { isInteractive: true, typed: 'y' }
    expect(await typeLine('box open --box 1 --json', { ...program, run: asking() })).toMatchObject({
      code: 2,
      asked: [],
    })
    const run = asking({ unattended: 'proceed' })
    expect(await typeLine('box open --box 1', { run })).toMatchObject({ code: 0 })
    expect(await typeLine('box open --box 1 --json', { ...program, run })).toMatchObject({ code: 0, asked: [] })
    expect(await typeLine('box open --box 1', { run, isInteractive: true, typed: 'n' })).toMatchObject({ code: 1 })
  })
})
