import { describe, expect, it } from '@jest/globals'
import { COMMON_OPTIONS } from '../../../lib/admin/command-line/admin-program.ts'
import type { AdminContext, Command } from '../../../lib/admin/command-line/command.ts'
import { CommandFailedError } from '../../../lib/admin/command-line/command-failed-error.ts'
import { readCommandLine } from '../../../lib/admin/command-line/command-line.ts'
import { COMMANDS } from '../../../lib/admin/command-line/command-table.ts'
import type { CommandValues } from '../../../lib/admin/command-line/command-values.ts'
import { runCommandLine } from '../../../lib/admin/command-line/run-command-line.ts'
import type { Terminal } from '../../../lib/admin/deployment/admin-context.ts'

function screen({ isInteractive = false, typed = '' } = {}) {
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
  return { shown, terminal }
}

const OPTIONS = {
  box: { value: 'ID', summary: 'which box', required: true },
  depth: { value: 'N', summary: 'how deep' },
  lid: { summary: 'with its lid' },
} as const

type Run = (context: AdminContext, values: CommandValues) => Promise<{ json: unknown; text: string; isOk?: boolean }>

function boxCommand(run: Run): Command {
  return { name: 'box open', summary: 'open a box', options: OPTIONS, examples: ['box open --box 1'], run }
}

const SHOW: Command = {
  name: 'box label',
  summary: 'label a box',
  parameters: [{ name: 'TEXT', summary: 'the label', required: true }],
  examples: ['box label fragile'],
  run: async (_, values) => ({ json: values.required('TEXT'), text: values.required('TEXT') }),
}

const done: Run = async () => ({ json: { done: true }, text: 'it is done' })

async function type(line: string, { run = done, ...options }: { run?: Run } & Parameters<typeof screen>[0] = {}) {
  const { shown, terminal } = screen(options)
  const code = await runCommandLine(line.split(' ').filter(Boolean), { commands: [boxCommand(run), SHOW], terminal })
  return { code, ...shown }
}

describe('a command line', () => {
  it('answers a person with text and a program with one line of JSON', async () => {
    expect(await type('box open --box 1')).toMatchObject({ code: 0, out: 'it is done\n', error: '' })
    expect(await type('box open --box 1 --json')).toMatchObject({ code: 0, out: '{"done":true}\n', error: '' })
  })

  it('takes common options before, between and after the words, its own and parameters after them', async () => {
    expect(await type('--json box open --box 1')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    expect(await type('box --json open --box 1')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    expect(await type('box open --json --box 1')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    expect(await type('box label fragile --json')).toMatchObject({ code: 0, out: '"fragile"\n' })
  })

  it('hands over each value, and whether a switch was given', async () => {
    const run: Run = async (_, values) => ({
      json: [values.required('box'), values.count('depth'), values.has('lid'), values.text('lid')],
      text: '',
    })
    const { out } = await type('box open --box=-1 --depth 3 --lid --json', { run })
    expect(JSON.parse(out)).toEqual(['-1', 3, true, null])
  })

  it.each([
    ['box opne --box 1', 'no command "box opne"; did you mean "box open"?', '`npm run admin -- --help` lists'],
    ['box frobnicate', 'no command "box frobnicate"; there is "box open", "box label"', 'lists the commands'],
    ['box', 'no command "box"; there is "box open", "box label"', 'lists the commands'],
    [
      'box open --bax 1',
      '"box open" has no option --bax; did you mean --box?',
      'usage: npm run admin -- box open --box ID',
    ],
    ['box open --box 1 --unheard', '"box open" has no option --unheard', 'usage:'],
    ['box open -x --box 1', '"box open" has no option -x', 'usage:'],
    ['box open --box 1 --__proto__ 2', '"box open" has no option --__proto__', 'usage:'],
    ['box open', '--box is missing', 'usage: npm run admin -- box open --box ID [--depth N] [--lid]'],
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
  ])(
    'that makes no sense (%s) exits 2 with a sentence and the usage, and runs nothing',
    async (line, sentence, usage) => {
      const run: Run = async () => {
        throw new Error('it ran')
      }
      const { code, out, error } = await type(line, { run })
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(error.split('\n')[0]).toContain(sentence)
      expect(error).toContain(usage)
    },
  )

  it('is refused by a command itself in the same way', async () => {
    const run: Run = async (_, values) => ({ json: values.count('depth'), text: '' })
    for (const depth of ['0', '-1', '+1', '1.5', '1e3', '0x10', 'x', '9007199254740993']) {
      const { code, error } = await type(`box open --box 1 --depth=${depth}`, { run })
      expect({ code, error }).toEqual({
        code: 2,
        error: expect.stringContaining(`--depth ${depth}: use a whole number`),
      })
      expect(error).toContain('usage: npm run admin -- box open')
    }
  })

  it('whose command fails exits 1: one sentence when the error explains itself, the stack when it is ours', async () => {
    const failing =
      (error: Error): Run =>
      () =>
        Promise.reject(error)
    expect(await type('box open --box 1', { run: failing(new CommandFailedError('the box is glued')) })).toMatchObject({
      code: 1,
      out: '',
      error: 'the box is glued\n',
    })
    const bug = await type('box open --box 1', { run: failing(new TypeError('undefined is not a box')) })
    expect(bug).toMatchObject({ code: 1, error: expect.stringMatching(/TypeError: undefined is not a box\n\s+at /) })
    const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' })
    expect(await type('box open --box 1', { run: failing(refused) })).toMatchObject({
      error: expect.stringMatching(/^ECONNREFUSED: the service cannot be reached/),
    })
  })

  it('with --json tells every error as one line of JSON on stderr, and stdout stays empty', async () => {
    const run: Run = () => Promise.reject(new Error('odd'))
    expect(await type('box open --json')).toMatchObject({ code: 2, out: '', error: '{"error":"--box is missing"}\n' })
    expect(await type('box open --box 1 --json', { run })).toMatchObject({ code: 1, error: '{"error":"Error: odd"}\n' })
  })

  it("shows nobody else's control sequences on a terminal: they are written out, and exact in the JSON", async () => {
    const hostile = 'a\x1b]0;b\x07\x9b2J\u202e\u2028c'
    const shown = 'a\\u{1b}]0;b\\u{7}\\u{9b}2J\\u{202e}\\u{2028}c'
    const answering: Run = async (context) => {
      context.warn(hostile)
      return { json: { hostile }, text: `${hostile}\nnext` }
    }
    expect(await type('box open --box 1', { run: answering })).toMatchObject({
      out: `${shown}\nnext\n`,
      error: `warning: ${shown}\n`,
    })
    const { out } = await type('box open --box 1 --json', { run: answering })
    expect(JSON.parse(out)).toEqual({ hostile })
    const run: Run = () => Promise.reject(new CommandFailedError(hostile))
    expect(await type('box open --box 1', { run })).toMatchObject({ error: `${shown}\n` })
    const asking: Run = async (context) => {
      await context.confirm(`${hostile}\nb`)
      return { json: {}, text: '' }
    }
    const { asked } = await type('box open --box 1', { run: asking, isInteractive: true })
    expect(asked).toEqual([`${shown}\\u{a}b. Go on? [y/N] `])
    expect((await type(`box open --${hostile}`)).error.split('\n')[0]).toContain(`no option --${shown}`)
  })

  it('that checked something and found it wrong exits 1 with its answer', async () => {
    const run: Run = async () => ({ json: { ok: false }, text: 'wrong', isOk: false })
    expect(await type('box open --box 1 --json', { run })).toMatchObject({ code: 1, out: '{"ok":false}\n', error: '' })
  })

  it('never repeats a word that may be a secret', async () => {
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
        const { shown, terminal } = screen()
        const words = `${line}${json}`.split(' ')
        expect(await runCommandLine(words, { commands: COMMANDS, terminal })).toBe(2)
        expect(shown).toEqual({ out: '', error: expect.not.stringContaining('SUPERSECRET'), asked: [] })
      }
    }
  })

  it('says that a secret value is never given as an argument', async () => {
    const { shown, terminal } = screen()
    await runCommandLine(['secret', 'set', 'P1_API_KEY', 'SUPERSECRET'], { commands: COMMANDS, terminal })
    expect(shown.error).toMatch(/^"secret set" has too many arguments; a secret value is never given as an argument\n/)
  })

  it('shows examples for programs and files without the banner of npm', async () => {
    const { shown, terminal } = screen()
    await runCommandLine(['ledger', 'export', '--help'], { commands: COMMANDS, terminal })
    expect(shown.out).toContain('\n  npm run --silent admin -- ledger export --tenant demo --local > ledger.csv')
    await runCommandLine(['key', 'list', '--help'], { commands: COMMANDS, terminal })
    expect(shown.out).toContain('\n  npm run --silent admin -- key list --tenant demo --json')
    expect(shown.out).toContain('\n  npm run admin -- key list --local')
  })

  it.each([
    ['', ['\n  box open  ', '\n  box label ', 'Exit code 0']],
    ['--help', ['\n  box open  ', 'open a box', 'Exit code 0']],
    ['box --help', ['\n  box open  ', '\n  box label ']],
    ['box open --help', ['Open a box.', 'which box', 'Examples:\n  npm run admin -- box open --box 1', '--json']],
    ['box open --bax -h', ['npm run admin -- box open --box ID [--depth N] [--lid]\n']],
    ['box label -h', ['npm run admin -- box label TEXT', 'the label']],
  ])('%j shows help on stdout and exits 0', async (line, parts) => {
    const { code, out, error } = await type(line)
    expect({ code, error }).toEqual({ code: 0, error: '' })
    for (const part of parts) {
      expect(out).toContain(part)
    }
  })
})

describe('a question before something that cannot be taken back', () => {
  const destroy: Run = async (context) => {
    await context.confirm('The box will be burnt')
    return { json: {}, text: 'burnt' }
  }
  const burn: Run = async (context) => {
    await context.confirm('The box will be burnt', { unattended: 'proceed' })
    return { json: {}, text: 'burnt' }
  }

  it('is asked on a terminal, and only yes goes on', async () => {
    for (const typed of ['y', 'yes', ' YES ']) {
      const { code, out, asked } = await type('box open --box 1', { run: destroy, isInteractive: true, typed })
      expect({ code, out, asked }).toEqual({ code: 0, out: 'burnt\n', asked: ['The box will be burnt. Go on? [y/N] '] })
    }
    for (const typed of ['', 'n', 'maybe', 'yesterday']) {
      const { code, out, error } = await type('box open --box 1', { run: destroy, isInteractive: true, typed })
      expect({ code, out, error }).toEqual({ code: 1, out: '', error: 'nothing was changed\n' })
    }
  })

  it('is answered by --yes', async () => {
    const { code, asked } = await type('box open --box 1 --yes', { run: destroy, isInteractive: true })
    expect({ code, asked }).toEqual({ code: 0, asked: [] })
  })

  it('is a refusal with exit code 2 where nobody can be asked', async () => {
    expect(await type('box open --box 1', { run: destroy })).toMatchObject({
      code: 2,
      error: expect.stringContaining('say --yes'),
    })
    const json = await type('box open --box 1 --json', { run: destroy, isInteractive: true, typed: 'y' })
    expect(json).toMatchObject({ code: 2, asked: [] })
  })

  it('does not stop a script whose command always ran without it', async () => {
    expect(await type('box open --box 1', { run: burn })).toMatchObject({ code: 0 })
    expect(await type('box open --box 1 --json', { run: burn, isInteractive: true })).toMatchObject({
      code: 0,
      asked: [],
    })
    expect(await type('box open --box 1', { run: burn, isInteractive: true, typed: 'n' })).toMatchObject({ code: 1 })
  })
})

describe('the table of commands', () => {
  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    '%s shows examples that it takes itself',
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

  it('gives no command an option of the name of a common one', () => {
    for (const { name, options = {} } of COMMANDS) {
      expect([name, Object.keys(options).filter((option) => Object.hasOwn(COMMON_OPTIONS, option))]).toEqual([name, []])
    }
  })

  it('has no name twice', () => {
    const names = COMMANDS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})
