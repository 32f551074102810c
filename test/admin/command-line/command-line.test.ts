import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { type Run, typeLine, typeWords } from './typed-line.ts'

describe('command-line', () => {
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
