import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { DescribeExecutionCommand, ExecutionDoesNotExist, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { type AuditEntry, readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import type { Command } from '../../../lib/cli/admin/command.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { createConsoleOidcSecretSet } from '../../../lib/cli/admin/console.ts'
import { createSecretSet } from '../../../lib/cli/admin/secrets.ts'
import { OutputNotFoundError } from '../../../lib/cli/failures.ts'
import type { Output } from '../../../lib/cli/output.ts'
import { CONFIGURATION_METADATA } from '../../../lib/config/load-gateway-config.ts'
import { FakeCloudFront, FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { startTestTable, type TableWithClient } from '../../engines/test-table.ts'
import { openTenant, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'

/** The value that `secret set` stores. */
export const SECRET_VALUE = 'sk-a-secret-of-a-channel'

/** Options by name; a parameter by its name in capitals. */
export type Options = Readonly<Record<string, string | true>>

/** A stage on which every command with an effect can run: a table with one tenant, and fakes of what is outside of the table. */
export type AuditedStage = {
  readonly table: TableWithClient
  readonly tenant: TestTenant
  /** The channel secret, which is the secret of the signing keys too. */
  readonly secret: FakeSecret
  /** A private key of the team, and the id of its public half. */
  readonly brought: { readonly file: string; readonly keyPairId: string }
  /** Runs a command by its name. */
  run(name: string, options: Options, surroundings?: Surroundings): Promise<Output>
  /** The audit log, newest first. */
  entries(): Promise<readonly AuditEntry[]>
  /** All that a command can change: items of the table, the secret, calls of the function of signing keys, started executions. */
  everything(): Promise<unknown>
}

/** Another table than that of the stage; a person who may decline. */
type Surroundings = { readonly table?: Table; readonly confirm?: () => Promise<void> }

/** Starts the engine once; each stage has a table of its own. */
export async function startAuditedStages(): Promise<{ open(): Promise<AuditedStage>; close(): Promise<void> }> {
  const engine = await startTestTable()
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-audited-'))
  const environment = { ...process.env }
  Object.assign(process.env, { AWS_REGION: 'us-east-1', P1_BASE_URL: 'https://p1.example.com' })
  captureTelemetry()
  writeFileSync(join(directory, 'gateway.json'), JSON.stringify(testCatalogue().config))
  const file = join(directory, 'brought.pem')
  const EncodedKey = writeKey(file)
  const services = fakeServices()

  async function open(): Promise<AuditedStage> {
    const table = await engine.fresh()
    services.reset()
    const [secret, cloudFront] = [new FakeSecret(), new FakeCloudFront()]
    return {
      table,
      secret,
      tenant: await openTenant(table),
      brought: { file, keyPairId: cloudFront.addPublicKey({ EncodedKey }) },
      run: (name, options, surroundings) =>
        runCommand(onStage(name), {
          table,
          options,
          dataDirectory: directory,
          local: !isDeployed(name),
          ...surroundings,
        }),
      entries: async () => (await readAudit(table, { limit: 50 })).entries,
      everything: async () => ({ items: await readItems(table), secret: secret.text, ...services.calls() }),
    }
  }
  async function close() {
    process.env = environment
    rmSync(directory, { recursive: true })
    await engine.close()
  }
  return { open, close }
}

/** Commands that a local host does not have. */
function isDeployed(name: string): boolean {
  return /^(secret|cdn-key|front-door|console oidc-secret) /.test(name)
}

/** Commands that read a secret, with an input of their own. */
const PIPED = new Map([
  ['secret set', createSecretSet],
  ['console oidc-secret set', createConsoleOidcSecretSet],
])

/** The command of this name, with the outputs of its stage; the value of a secret comes from a pipe. */
function onStage(name: string): Command {
  const command = PIPED.get(name)?.(pipedSecret) ?? COMMANDS.find((each) => each.name === name)
  if (command === undefined) {
    throw new Error(`no command ${name}`)
  }
  const outputs: Readonly<Record<string, string>> = {
    BaseUrl: 'http://127.0.0.1:1',
    StateMachineArn: LOCAL_STATE_MACHINE_ARN,
    BucketName: 'videos',
    ChannelSecretArn: 'arn:secret',
    CdnSigningKeySecretArn: 'arn:secret',
    FrontDoorSecretArn: 'arn:secret',
    // A stage whose team brings its keys has no function that makes keys.
    ...(name === 'cdn-key import' ? {} : { CdnSigningKeyFunctionName: 'maker' }),
  }
  const output = async (wanted: string) => {
    const value = outputs[wanted]
    if (value === undefined) {
      throw new OutputNotFoundError(`no output ${wanted}`)
    }
    return value
  }
  return { ...command, run: (context, values) => command.run({ ...context, output }, values) }
}

function pipedSecret(): PassThrough {
  const input = new PassThrough()
  input.end(SECRET_VALUE)
  return input
}

/** Writes a private key, and returns its public half in PEM. */
function writeKey(file: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()
}

/** A stage whose channel `main` needs MAIN_KEY, whose function knows one signing key, and none of whose executions exists. */
function fakeServices() {
  const { config } = testCatalogue({}, { main: { api_key: `\${${'MAIN_KEY'}}` } })
  const [templates, functions, machines] = [
    mockClient(CloudFormationClient),
    mockClient(LambdaClient),
    mockClient(SFNClient),
  ]
  const keys = [{ keyPairId: 'K1', createdAt: 1, state: 'signs', signsFrom: 1, neededUntil: null }]
  return {
    reset() {
      templates.reset()
      templates
        .on(GetTemplateCommand)
        .resolves({ TemplateBody: JSON.stringify({ Metadata: { [CONFIGURATION_METADATA]: JSON.stringify(config) } }) })
      functions.reset()
      functions.on(InvokeCommand).callsFake(({ Payload }) => {
        const { keyPairId } = JSON.parse(String(Payload))
        return { Payload: Buffer.from(JSON.stringify(keyPairId === 'K1' ? { refused: 'K1 signs' } : { keys })) }
      })
      machines.reset()
      machines.on(DescribeExecutionCommand).rejects(new ExecutionDoesNotExist({ message: '', $metadata: {} }))
      machines.on(StartExecutionCommand).resolves({})
    },
    calls: () => ({
      functions: functions.commandCalls(InvokeCommand).length,
      executions: machines.commandCalls(StartExecutionCommand).length,
    }),
  }
}

async function readItems({ client, name }: TableWithClient) {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: name }))
  return Items.toSorted((left, right) => `${left.PK} ${left.SK}`.localeCompare(`${right.PK} ${right.SK}`))
}

/** One command line with an effect. */
export type AuditedEffect = {
  readonly command: string
  /** Makes what the command changes, if anything, and returns the options. */
  readonly options: (stage: AuditedStage) => Options | Promise<Options>
  /** Options that the command refuses, in place of the same ones above. */
  readonly refused: Options
  /** The action of the entry; that of the command if left out. */
  readonly action?: string
  /** What the entry says. */
  readonly entry: Pick<AuditEntry, 'kind' | 'before' | 'after'>
  /** What the same command line does a second time. */
  readonly repeat: 'nothing' | 'another entry'
  /** `after`: somebody else may refuse the change, or its size is known only then (docs/decisions/0136). */
  readonly isRecorded?: 'after'
}

/** Options that need nothing. */
export const given = (options: Options) => () => options
/** Options with the tenant of the stage. */
export const ofTenant =
  (options: Options = {}) =>
  ({ tenant: { tenantId } }: AuditedStage): Options => ({ tenant: tenantId, ...options })
/** Options with its key. */
export const ofKey =
  (options: Options = {}) =>
  ({ tenant: { keyDigest } }: AuditedStage): Options => ({ key: keyDigest.slice(0, 8), ...options })
/** The options of a command that ends what another one began. */
export const afterRun = (began: string, options: (stage: AuditedStage) => Options) => async (stage: AuditedStage) => {
  await stage.run(began, options(stage))
  return options(stage)
}
