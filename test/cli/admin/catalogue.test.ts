import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { catalogueCheck, catalogueDiff } from '../../../lib/cli/admin/catalogue.ts'
import { readDeployedConfig } from '../../../lib/cli/admin/deployed-config.ts'
import { CONFIGURATION_METADATA } from '../../../lib/config/load-gateway-config.ts'
import { SAMPLE_FILE } from '../../config/edited-config.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { startTestTable } from '../../engines/test-table.ts'
import { runCommand } from './run-command.ts'

const cloudFormation = mockClient(CloudFormationClient)
const secrets = mockClient(SecretsManagerClient)

describe('catalogue commands', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-admin-'))
  process.env.AWS_REGION = 'us-east-1'
  afterEach(() => {
    cloudFormation.reset()
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const { config } = testCatalogue()

  function write(name: string, value: unknown): string {
    const file = join(directory, name)
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
    return file
  }

  function deploy(deployed: object): void {
    const TemplateBody = JSON.stringify({ Metadata: { ReelgateConfiguration: JSON.stringify(deployed) } })
    cloudFormation.on(GetTemplateCommand, { StackName: 'Reelgate-dev' }).resolves({ TemplateBody })
  }

  describe('catalogue check', () => {
    it('shows every model with its channels and prices', async () => {
      const { json, text, isOk } = await runCommand(catalogueCheck, {
        options: { config: SAMPLE_FILE },
        local: true,
      })
      expect(isOk ?? true).toBe(true)
      expect(Object(json).models).toContainEqual({
        id: 'chat-default',
        kind: 'chat',
        enabled: true,
        billing: 'token',
        channels: ['openai-main'],
        prices: ['input 0.15 per million, output 0.60 per million'],
      })
      expect(text).toMatch(/famB-1\.1-t2v +video +p1-main +per_second +480P: 0\.07\n +720P: 0\.14\n/)
    })

    it('warns of models that no channel serves, and of channels that a deployment leaves out', async () => {
      const { json } = await runCommand(catalogueCheck, { options: { config: SAMPLE_FILE } })
      expect(Object(json).warnings).toEqual(
        expect.arrayContaining([
          'channel p1-main has no upstream (base_url is simulator) and is left out',
          expect.stringMatching(/^clients do not see models that are on no channel: .*chat-default/),
        ]),
      )
    })

    it('names the file, the keys that its channels lack, the rules whose tenant does not exist, and what it could not read', async () => {
      const rule = { name: 'ci', when: { sub: '*' }, tenant: 'gone' }
      const issuer = { issuer: 'https://issuer.example.com', audience: 'gateway', rules: [rule] }
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
      const { config: keyed } = testCatalogue({}, { main: { api_key: '${LACKING_KEY}' } })
      const file = write('lacking.json', { ...keyed, identity: { issuers: [issuer] } })
      const engine = await startTestTable()
      try {
        const table = await engine.fresh()
        const check = async (surroundings: Parameters<typeof runCommand>[1]) => {
          const { json, text } = await runCommand(catalogueCheck, { options: { config: file }, ...surroundings })
          expect(text).toContain(`configuration  ${file}\n`)
          expect(Object(json).file).toBe(file)
          return Object(json).warnings
        }
        const noTenant = 'identity rule ci: the tenant gone does not exist, so its callers get a 503'
        const localKey = 'channel main has no key in this shell: set LACKING_KEY before `npm start`'
        expect(await check({ local: true, table })).toEqual(expect.arrayContaining([localKey, noTenant]))
        secrets.on(GetSecretValueCommand).resolves({ SecretString: '{}' })
        const outputs = { ChannelSecretArn: 'arn:secret' }
        const stageKey = 'channel main has no key: run `secret set LACKING_KEY`'
        expect(await check({ table, outputs })).toEqual(expect.arrayContaining([stageKey, noTenant]))
        const unread: string[] = []
        secrets.on(GetSecretValueCommand).rejects(new Error('Region is missing'))
        const away = { outputs, warn: (sentence: string) => void unread.push(sentence) }
        expect(await check(away)).not.toEqual(expect.arrayContaining([expect.stringMatching(/no key|tenant/)]))
        expect(unread).toEqual([
          expect.stringMatching(
            /^the stage dev could not be read, so the keys .* were not checked: no AWS region is set/,
          ),
          'the stage dev could not be read, so the tenants of its rules were not checked: Error: the test has no table',
        ])
      } finally {
        await engine.close()
      }
    })

    it('fails for the stage prod without a channel, as its deployment does', async () => {
      const simulated = config.channels.map((channel) => ({ ...channel, base_url: 'simulator' }))
      const options = { config: write('simulated.json', { ...config, channels: simulated }) }
      await expect(runCommand(catalogueCheck, { options, stage: 'prod' })).rejects.toThrow(
        'the stage prod has no channel: set the base urls of main, spare of ',
      )
      expect((await runCommand(catalogueCheck, { options })).text).toContain('is left out')
    })

    it('fails with file, line and what is allowed', async () => {
      const file = write('bad.yaml', 'unit: credit\nchannels: []\nmodels:\n  - id: a\n    kind: film\n')
      await expect(runCommand(catalogueCheck, { options: { config: file } })).rejects.toThrow(
        new RegExp(`${file}:5 models\\[0\\]\\.kind: .*allowed: `),
      )
    })
  })

  describe('catalogue diff', () => {
    it('finds no difference where none is, and is ok', async () => {
      deploy(config)
      const options = { config: write('same.json', config) }
      expect(await runCommand(catalogueDiff, { options })).toEqual({
        json: { same: true, file: options.config, changes: [] },
        text: `no difference: ${options.config} is deployed`,
        isOk: true,
      })
    })

    it('shows what is added, removed and changed, whatever the order, and is not ok', async () => {
      const [main, spare] = config.channels
      const [first, second] = config.models
      deploy(config)
      const file = write('other.json', {
        ...config,
        queue_minutes: 5,
        channels: [
          { ...spare, weight: 3 },
          { ...main, id: 'third' },
        ],
        models: [second, { ...first, prices: [{ resolution: '480P', price: '0.1' }, ...(first?.prices ?? [])] }],
      })
      const { json, text, isOk } = await runCommand(catalogueDiff, { options: { config: file } })
      expect(isOk).toBe(false)
      const changes = Object(json).changes.map(
        ({ change, path }: { change: string; path: string }) => `${change} ${path}`,
      )
      expect(changes).toEqual([
        `changed models.${PER_SECOND_MODEL}.prices`,
        'removed channels.main',
        'changed channels.spare.weight',
        'added channels.third',
        'changed queue_minutes',
      ])
      const prices = text.slice(0, text.indexOf('- channels.main\n')).split('\n')
      expect(prices[0]).toBe(`a deployment of ${file} changes`)
      expect(prices[1]).toBe(`~ models.${PER_SECOND_MODEL}.prices`)
      expect(prices).toContain('    file      1. 480P: 0.1')
      expect(text).toContain('~ queue_minutes\n    deployed  60\n    file      5')
    })

    it('shows price rows that only changed places, because the first that fits is the price', async () => {
      const [first, ...others] = config.models
      const rows = [{ resolution: '1080P', price: '0.18' }, { price: '0.07' }]
      const withPrices = (prices: unknown) => ({ ...config, models: [{ ...first, prices }, ...others] })
      deploy(withPrices(rows))
      const options = { config: write('turned.json', withPrices(rows.toReversed())) }
      const { text } = await runCommand(catalogueDiff, { options })
      expect(text.split('\n').slice(2)).toEqual([
        '    deployed  1. 1080P: 0.18',
        '    deployed  2. 0.07',
        '    file      1. 0.07',
        '    file      2. 1080P: 0.18',
      ])
    })

    it('shows the place where a long value changed, however far behind its beginning', async () => {
      const origins = (last: string) => [...Array.from({ length: 20 }, (_, index) => `https://o${index}.example`), last]
      const withOrigins = (last: string) => ({ ...config, trusted_origins: origins(last) })
      deploy(withOrigins('https://old.example'))
      const options = { config: write('long.json', withOrigins('https://new.example')) }
      const { text } = await runCommand(catalogueDiff, { options })
      expect(text).toMatch(
        /\n~ trusted_origins\n {4}deployed {2}\.\.\..*https:\/\/old\.example"\] \(\d+ characters\)\n {4}file {6}\.\.\..*new/,
      )
    })

    describe('of a local host', () => {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
      const simulated = config.channels.map((channel) => ({ ...channel, base_url: 'simulator', api_key: '${KEY}' }))
      const file = { ...config, channels: simulated, callback_allowlist: ['http://127.0.0.1:*', '*.example.com'] }
      const running = {
        ...config,
        trusted_origins: ['http://127.0.0.1:4711'],
        callback_allowlist: ['*.example.com', 'http://127.0.0.1:*', 'http://localhost:*', 'http://[::1]:*'],
        channels: config.channels.map((channel) => ({ ...channel, base_url: 'http://127.0.0.1:4711', api_key: '' })),
      }
      const diff = async (SimulatedChannels: string, compared: object) => {
        write('gateway.json', running)
        const options = { config: write('compared.json', compared) }
        const outputs = { BaseUrl: 'http://x', SimulatedChannels }
        return await runCommand(catalogueDiff, { options, local: true, dataDirectory: directory, outputs })
      }

      it('takes the addresses that it gave its simulators, and its own callbacks, for no difference', async () => {
        expect(await diff('main,spare', file)).toMatchObject({ isOk: true })
      })

      it('tells of an upstream that it calls and the file simulates, as where the shell lacks a variable', async () => {
        const { isOk, text } = await diff('spare', file)
        expect(isOk).toBe(false)
        expect(text).toMatch(
          /~ channels\.main\.base_url\n +deployed +"http:\/\/127\.0\.0\.1:4711"\n +file +"simulator"/,
        )
        expect(text).not.toContain('channels.spare')
      })

      it('tells of an upstream that it simulates and the file calls, as after --simulators', async () => {
        const [main, ...others] = simulated
        const real = { ...main, base_url: 'https://real.example.com/v1' }
        const { text } = await diff('main,spare', { ...file, channels: [real, ...others] })
        expect(text).toMatch(/~ channels\.main\.base_url\n +deployed +"simulator"\n +file +"https:\/\/real/)
      })
    })

    it('says what to do where nothing is deployed, or a version that kept no configuration', async () => {
      const options = { config: write('same.json', config) }
      cloudFormation.on(GetTemplateCommand).rejectsOnce(new Error('Stack with id Reelgate-dev does not exist'))
      await expect(runCommand(catalogueDiff, { options })).rejects.toThrow(
        /does not exist\): deploy it, choose another/,
      )
      cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: '{"Resources":{}}' })
      await expect(runCommand(catalogueDiff, { options })).rejects.toThrow(/has no configuration .*: deploy once/)
    })
  })
})

describe('deployed config', () => {
  const { config } = testCatalogue()
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-deployed-'))
  beforeEach(() => {
    cloudFormation.reset()
  })
  afterAll(() => rmSync(dataDirectory, { recursive: true }))

  const read = (local: boolean) =>
    readDeployedConfig({ local, stage: 'dev', dataDirectory, output: async () => 'http://127.0.0.1:8787' })

  describe('deployed-config: of a stage', () => {
    it('is what its template holds', async () => {
      const TemplateBody = JSON.stringify({ Metadata: { [CONFIGURATION_METADATA]: JSON.stringify(config) } })
      cloudFormation.on(GetTemplateCommand, { StackName: 'Reelgate-dev' }).resolves({ TemplateBody })
      expect(await read(false)).toEqual(config)
    })

    it.each(['{"Resources":{}}', 'AWSTemplateFormatVersion: x'])(
      'asks for a deployment where that is %j',
      async (body) => {
        cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: body })
        await expect(read(false)).rejects.toThrow('has no configuration that this version can read: deploy once')
      },
    )

    it('says what to do where nothing is deployed', async () => {
      cloudFormation.on(GetTemplateCommand).rejects(new Error('Stack does not exist'))
      await expect(read(false)).rejects.toThrow('deploy it, choose another --stage, or add --local')
    })
  })

  describe('deployed-config: of a local host', () => {
    it('is what the host left in its data directory', async () => {
      await expect(read(true)).rejects.toThrow('has no configuration there')
      writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(config))
      expect(await read(true)).toEqual(config)
      expect(cloudFormation.calls()).toEqual([])
    })
  })
})
