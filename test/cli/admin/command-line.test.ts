import { describe, expect, it } from '@jest/globals'
import type { AdminContext } from '../../../lib/cli/admin/command.ts'
import { COMMON_OPTIONS, readCommandLine, usageOf } from '../../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { CommandFailedError } from '../../../lib/cli/failures.ts'
import { type Run, typeLine, typeWords } from './typed-line.ts'

describe('readCommandLine', () => {
  it('takes common options anywhere, and the options of a command after its name', async () => {
    expect(await typeLine('--json box open --box 1')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    expect(await typeLine('box --json open --box 1')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    expect(await typeLine('box open --json --box 1')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    expect(await typeLine('box label fragile --json')).toMatchObject({ code: 0, out: '"fragile"\n' })
  })

  it('gives the command each value, and whether a switch was given', async () => {
    const run: Run = async (_, values) => ({
      json: [values.required('box'), values.count('depth'), values.has('lid'), values.text('lid')],
      text: '',
    })
    const { out } = await typeLine('box open --box=-1 --depth 3 --lid --json', { run })
    expect(JSON.parse(out)).toEqual(['-1', 3, true, null])
  })

  it.each([
    ['box opne --box 1', 'no command "box opne"; did you mean "box open"?', '`npm run admin -- --help` lists'],
    ['box frobnicate', 'no command "box frobnicate"; there is "box open", "box label"', 'lists the commands'],
    ['box let', 'no command "box let"; there is "box open", "box label"', 'lists the commands'],
    ['box', 'no command "box"; there is "box open", "box label"', 'lists the commands'],
    [
      'box open --bax 1',
      '"box open" has no option --bax; did you mean --box?',
      'usage: npm run admin -- box open --box ID',
    ],
    ['box open --box 1 --unheard', '"box open" has no option --unheard', 'usage:'],
    ['box open -x --box 1', '"box open" has no option -x', 'usage:'],
    ['box open --box 1 --__proto__ 2', '"box open" has no option --__proto__', 'usage:'],
    ['box open', '--box is missing: which box', 'usage: npm run admin -- box open --box ID [--depth N] [--lid]'],
    ['box open --box=', '--box is missing', 'usage:'],
    ['box open --box --lid', '--box needs a value', 'usage:'],
    ['box open --box', '--box needs a value', 'usage:'],
    ['box open --box 1 --lid=no', '--lid takes no value', 'usage:'],
    ['box open --box 1 --box 2', '--box is given twice', 'usage:'],
    ['box open twice --box 1', "too many arguments for 'open'. Expected 0 arguments but got 1.", 'usage:'],
    ['box --box 1 open', '--box follows the name of its command', 'lists the commands'],
    ['--box 1 box open', '--box follows the name of its command', 'lists the commands'],
    ['box open --box 1 --local --stage prod', '--local and --stage are two places: give one of them', 'usage:'],
    ['box open --stage --box 1', '--stage needs a value', 'usage:'],
    ['frobnicate', 'no command "frobnicate"', 'lists the commands'],
    ['--stag prod', 'there is no option --stag; did you mean --stage?', 'lists the commands'],
    ['box open --stag=prod', '"box open" has no option --stag; did you mean --stage?', 'usage:'],
    ['--stag prod box open --box 1', 'there is no option --stag; did you mean --stage?', 'lists the commands'],
    ['--version', 'there is no option --version', 'lists the commands'],
    ['box label', "missing required argument 'TEXT'", 'usage: npm run admin -- box label TEXT'],
  ])('refuses `%s` with exit code 2, a sentence and the usage, and runs nothing', async (line, sentence, usage) => {
    const run: Run = async () => {
      throw new Error('it ran')
    }
    const { code, out, error } = await typeLine(line, { run })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(error.split('\n')[0]).toContain(sentence)
    expect(error).toContain(usage)
  })

  it('repeats no word that may be a secret in an error', async () => {
    for (const line of [
      'secret set P1_API_KEY SUPERSECRET',
      'secret set P1_API_KEY -SUPERSECRET',
      'secret set -SUPERSECRET',
      'secret set P1_API_KEY --value=SUPERSECRET',
      'secret set P1_API_KEY --value-from-stdin=SUPERSECRET',
      '--value=SUPERSECRET secret set P1_API_KEY',
      'secret put P1_API_KEY SUPERSECRET',
      'secret SUPERSECRET',
      'cdn-key import SUPERSECRET',
      'cdn-key impotr SUPERSECRET',
      'callback-secret rotate SUPERSECRET',
      'callback-secret rotat SUPERSECRET',
    ]) {
      for (const json of ['', ' --json']) {
        expect(await typeWords(`${line}${json}`.split(' '), COMMANDS)).toEqual({
          code: 2,
          out: '',
          error: expect.not.stringContaining('SUPERSECRET'),
          asked: [],
        })
      }
    }
  })

  it.each([
    ['key create --rate-per-minute 5', '"key create" has no option --rate-per-minute; did you mean --rate?'],
    ['channel weight main --weight 2', '"channel weight" takes WEIGHT as a word, without the name of an option'],
  ])('says how the value of `%s` is given', async (line, sentence) => {
    expect((await typeWords(line.split(' '), COMMANDS)).error.split('\n')[0]).toBe(sentence)
  })

  it('says that a secret value is never given as an argument', async () => {
    const { error } = await typeWords(['secret', 'set', 'P1_API_KEY', 'SUPERSECRET'], COMMANDS)
    expect(error).toMatch(/^"secret set" has too many arguments; a secret value is never given as an argument\n/)
  })

  it.each([
    ['', ['\n  box open  ', '\n  box label ', 'Exit code 0']],
    ['--help', ['\n  box open  ', 'open a box', 'Exit code 0']],
    ['box --help', ['\n  box open  ', '\n  box label ']],
    ['box open --help', ['Open a box.', 'which box', 'Examples:\n  npm run admin -- box open --box 1', '--json']],
    ['box open --bax -h', ['npm run admin -- box open --box ID [--depth N] [--lid]\n']],
    ['box label -h', ['npm run admin -- box label TEXT', 'the label']],
  ])('shows help on stdout for %j, with exit code 0', async (line, parts) => {
    const { code, out, error } = await typeLine(line)
    expect({ code, error }).toEqual({ code: 0, error: '' })
    for (const part of parts) {
      expect(out).toContain(part)
    }
  })
})

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
      error: '{"error":"--box is missing: which box"}\n',
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

describe('usageOf', () => {
  it('shows parameters before options, and optional ones in brackets', () => {
    const command = {
      name: 'secret set',
      summary: 'store a key',
      parameters: [{ name: 'NAME', summary: 'name of the key', required: true }],
      options: {
        config: { value: 'FILE', summary: 'a configuration' },
        tenant: { value: 'ID', summary: 'a tenant', required: true },
      },
      examples: [],
      run: async () => ({ json: {}, text: '' }),
    } as const
    expect(usageOf(command)).toBe('secret set NAME [--config FILE] --tenant ID')
  })

  it('shows for a command below another one only its own options and those of every command', async () => {
    const { out } = await typeWords(['ledger', 'verify', '--help'], COMMANDS)
    expect(out).toContain('--tenant ID|NAME')
    expect(out).toContain('--stage STAGE')
    expect(out).not.toContain('--csv')
  })

  it('breaks the lines of an explanation only where the terminal ends', async () => {
    const { out } = await typeWords(['tenant', 'adjust', '--help'], COMMANDS)
    const [, , explanation = ''] = out.split('\n\n')
    const lines = explanation.split('\n')
    for (const [index, line] of lines.slice(0, -1).entries()) {
      const [nextWord = ''] = lines[index + 1]?.split(' ') ?? []
      expect(`${line} ${nextWord}`.length).toBeGreaterThan(80)
    }
  })

  it('shows examples whose output goes to a program or a file with --silent', async () => {
    const exported = await typeWords(['ledger', 'export', '--help'], COMMANDS)
    expect(exported.out).toContain('\n  npm run --silent admin -- ledger export --tenant demo --local > ledger.csv')
    const listed = await typeWords(['key', 'list', '--help'], COMMANDS)
    expect(listed.out).toContain('\n  npm run --silent admin -- key list --tenant demo --json')
    expect(listed.out).toContain('\n  npm run admin -- key list --local')
  })
})

describe('COMMANDS', () => {
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
