import { PassThrough } from 'node:stream'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import {
  changeSecretEntries,
  createSecretSet,
  parseSecretEntries,
  readSecretValue,
  secretList,
  secretRemove,
} from '../../../lib/cli/admin/secrets.ts'
import { CommandFailedError, NotConfirmedError } from '../../../lib/cli/failures.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { CONFIGURATION_METADATA } from '../../../lib/config/load-gateway-config.ts'
import { FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { SHIPPED_FILE } from '../../core/shipped-catalogue.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { recordingTable, runCommand } from './run-command.ts'

describe('channel secret commands', () => {
  const cloudFormation = mockClient(CloudFormationClient)
  const environment = { ...process.env }
  let secret: FakeSecret
  let audited: ReturnType<typeof recordingTable>
  beforeEach(() => {
    audited = recordingTable()
    secret = new FakeSecret()
    // The stage uses MAIN_KEY; the configuration file uses P1_API_KEY besides, for the next deployment.
    const { config } = testCatalogue({}, { main: { api_key: `\${${'MAIN_KEY'}}` } })
    cloudFormation.reset()
    cloudFormation
      .on(GetTemplateCommand)
      .resolves({ TemplateBody: JSON.stringify({ Metadata: { [CONFIGURATION_METADATA]: JSON.stringify(config) } }) })
    process.env.P1_BASE_URL = 'https://p1.example.com'
  })
  afterAll(() => {
    process.env = environment
  })

  const outputs = { ChannelSecretArn: 'arn:channel-secret' }
  const entries = () => JSON.parse(secret.text)

  function set(name: string, value: string, options: Readonly<Record<string, true>> = {}) {
    const input = new PassThrough()
    input.end(value)
    const command = createSecretSet(() => input)
    return runCommand(command, {
      table: audited.table,
      outputs,
      options: { NAME: name, 'value-from-stdin': true, config: SHIPPED_FILE, ...options },
    })
  }
  const list = () => runCommand(secretList, { outputs, options: { config: SHIPPED_FILE } })
  const remove = (name: string, confirm = async () => undefined) =>
    runCommand(secretRemove, { table: audited.table, outputs, options: { NAME: name, config: SHIPPED_FILE }, confirm })

  describe('secret set', () => {
    it('says that a channel without a key has no secret, without asking AWS', async () => {
      const config = 'config/examples/bedrock.yaml'
      const input = new PassThrough()
      const options = { NAME: 'bedrock', 'value-from-stdin': true, config } as const
      await expect(
        runCommand(
          createSecretSet(() => input),
          { table: audited.table, options },
        ),
      ).rejects.toThrow('the channel bedrock has no secret: its requests are signed by the role of the functions')
      expect(cloudFormation.calls()).toEqual([])
    })

    it('sets one entry and leaves the others, and no output has the value', async () => {
      secret.text = '{"OTHER":"kept"}'
      const answer = await set('MAIN_KEY', 'sk-1\n')
      expect(entries()).toEqual({ OTHER: 'kept', MAIN_KEY: 'sk-1' })
      expect(answer.json).toEqual({ name: 'MAIN_KEY', state: 'set', channels: ['main'] })
      expect((await set('MAIN_KEY', 'sk-2')).json).toMatchObject({ state: 'replaced' })
      expect(JSON.stringify(answer)).not.toContain('sk-1')
    })

    it('is recorded with the name and its channels, before the change, and never with the value', async () => {
      secret.beforeMove = () => {
        expect(audited.entries).toHaveLength(1)
      }
      await set('MAIN_KEY', 'sk-very-secret')
      expect(audited.entries).toMatchObject([
        {
          actor: 'tester@test',
          action: 'secret set',
          kind: 'secret',
          target: 'MAIN_KEY',
          before: { state: 'missing' },
          after: { state: 'set', channels: ['main'] },
        },
      ])
      expect(JSON.stringify(audited.entries)).not.toContain('very')
    })

    it('of the value that the name has already changes and records nothing', async () => {
      await set('MAIN_KEY', 'sk-1')
      secret.beforeMove = () => {
        throw new Error('the secret is changed')
      }
      expect((await set('MAIN_KEY', 'sk-1')).json).toEqual({ name: 'MAIN_KEY', state: 'unchanged', channels: ['main'] })
      expect(audited.entries).toHaveLength(1)
    })

    it('that is refused records nothing', async () => {
      await expect(set('SOMETHING_ELSE', 'sk-1')).rejects.toThrow()
      await expect(set('MAIN_KEY', 'two words')).rejects.toThrow()
      expect(audited.entries).toEqual([])
    })

    it('loses nothing that somebody else sets at the same moment', async () => {
      secret.beforeMove = () => {
        secret.beforeMove = () => undefined
        secret.text = '{"THEIRS":"1"}'
      }
      await set('MAIN_KEY', 'sk-1')
      expect(entries()).toEqual({ THEIRS: '1', MAIN_KEY: 'sk-1' })
    })

    it('takes a name of the next deployment, and says which is meant by one that nobody uses', async () => {
      await set('P1_API_KEY', 'sk-1')
      await expect(set('MIAN_KEY', 'sk-1')).rejects.toThrow('did you mean MAIN_KEY?')
      await expect(set('SOMETHING_ELSE', 'sk-1')).rejects.toThrow('MAIN_KEY, P1_API_KEY')
      await set('SOMETHING_ELSE', 'sk-1', { force: true })
      expect(Object.keys(entries())).toEqual(['P1_API_KEY', 'SOMETHING_ELSE'])
    })

    it('does not repeat a value that stands in the place of the name', async () => {
      const error = await set('sk-very-secret', 'sk-1', { force: true }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(UsageError)
      expect(String(error)).not.toContain('very')
    })

    it.each(['sk-very-secret', '["sk-very-secret"]'])(
      'leaves a secret alone that is %s, and does not quote it',
      async (text) => {
        secret.text = text
        const error = await set('MAIN_KEY', 'sk-1').catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(CommandFailedError)
        expect(String(error)).not.toContain('very')
        expect(secret.text).toBe(text)
      },
    )

    it('works on a deployed stage alone', async () => {
      const local = runCommand(secretList, { outputs, local: true })
      await expect(local).rejects.toThrow('from its environment')
    })
  })

  describe('secret list', () => {
    it('shows names, users and what is missing, never a value', async () => {
      secret.text = '{"MAIN_KEY":"sk-1","LEFT_OVER":"sk-2","P1_API_KEY":""}'
      const answer = await list()
      expect(answer).toMatchObject({
        isOk: false,
        json: {
          secrets: [
            { name: 'LEFT_OVER', state: 'unused', channels: [] },
            { name: 'MAIN_KEY', state: 'set', channels: ['main'] },
            { name: 'P1_API_KEY', state: 'missing' },
          ],
        },
      })
      expect(JSON.stringify(answer)).not.toContain('sk-')
      await set('P1_API_KEY', 'sk-3')
      expect((await list()).isOk).toBe(true)
    })
  })

  describe('secret remove', () => {
    it('takes one entry out, once it was confirmed', async () => {
      secret.text = '{"MAIN_KEY":"sk-1","OTHER":"kept"}'
      const asked: string[] = []
      await runCommand(secretRemove, {
        table: audited.table,
        outputs,
        options: { NAME: 'MAIN_KEY' },
        confirm: async (sentence) => void asked.push(sentence),
      })
      expect(entries()).toEqual({ OTHER: 'kept' })
      expect(asked).toEqual([expect.stringContaining('the key of main')])
      expect(audited.entries).toMatchObject([
        {
          action: 'secret remove',
          target: 'MAIN_KEY',
          before: { state: 'set' },
          after: { state: 'missing', channels: ['main'] },
        },
      ])
    })

    it('changes nothing without the yes', async () => {
      secret.text = '{"MAIN_KEY":"sk-1"}'
      await expect(remove('MAIN_KEY', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
      expect(entries()).toEqual({ MAIN_KEY: 'sk-1' })
      expect(audited.entries).toEqual([])
    })

    it('of a name that is not there is an error', async () => {
      await expect(remove('MAIN_KEY')).rejects.toBeInstanceOf(CommandFailedError)
    })
  })
})

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

describe('parseSecretEntries', () => {
  it('reads keys by their names', () => {
    expect(parseSecretEntries('{"MAIN_KEY":"sk-1"}')).toEqual({ MAIN_KEY: 'sk-1' })
  })

  it.each(['sk-1', '["sk-1"]', '{"MAIN_KEY":{"key":"sk-1"}}', ''])('is undefined for %j', (content) => {
    expect(parseSecretEntries(content)).toBeUndefined()
  })
})

describe('changeSecretEntries', () => {
  let secret: FakeSecret
  beforeEach(() => {
    secret = new FakeSecret()
  })
  const change = () =>
    changeSecretEntries({ arn: 'arn:secret', name: 'secret' }, (entries) => ({ ...entries, MINE: '1' }))

  it('builds on what another process has written meanwhile', async () => {
    secret.beforeMove = () => {
      secret.beforeMove = () => undefined
      secret.text = '{"THEIRS":"1"}'
    }
    expect(await change()).toMatchObject({ before: { THEIRS: '1' }, versionId: expect.any(String) })
    expect(JSON.parse(secret.text)).toEqual({ THEIRS: '1', MINE: '1' })
  })

  it('gives up while others keep changing the secret, and overwrites nothing', async () => {
    let changes = 0
    secret.beforeMove = () => {
      changes += 1
      secret.text = `{"THEIRS":"${changes}"}`
    }
    await expect(change()).rejects.toThrow('another process keeps changing the secret')
    expect(JSON.parse(secret.text)).toEqual({ THEIRS: '5' })
  })

  it('leaves a secret of another form alone, and does not quote it', async () => {
    secret.text = 'sk-very-secret'
    const message = await change().catch(String)
    expect(message).toContain('the secret is not a JSON object of strings')
    expect(message).not.toContain('very-secret')
    expect(secret.text).toBe('sk-very-secret')
  })
})
