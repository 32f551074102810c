import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { cdnKeyImport, cdnKeyList, cdnKeyRemove, cdnKeyRotate } from '../../../lib/cli/admin/cdn-keys.ts'
import type { Command } from '../../../lib/cli/admin/command.ts'
import { CommandFailedError, OutputNotFoundError } from '../../../lib/cli/failures.ts'
import { FakeCloudFront, FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { recordingTable, runCommand } from './run-command.ts'

const lambda = mockClient(LambdaClient)
const directory = mkdtempSync(join(tmpdir(), 'reelgate-keys-'))
let secret: FakeSecret
let cloudFront: FakeCloudFront
let audited: ReturnType<typeof recordingTable>
beforeEach(() => {
  audited = recordingTable()
  lambda.reset()
  secret = new FakeSecret()
  cloudFront = new FakeCloudFront()
})
afterEach(() => {
  jest.restoreAllMocks()
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const MANAGED = { CdnSigningKeySecretArn: 'arn:keys', CdnSigningKeyFunctionName: 'maker' }
const BROUGHT = { CdnSigningKeySecretArn: 'arn:keys' }

/** Runs a command on a stage with these outputs; one that is not there is an error as of a real stack. */
function run(command: Command, outputs: Readonly<Record<string, string>>, options = {}) {
  const output = async (name: string) => {
    const value = outputs[name]
    if (value === undefined) {
      throw new OutputNotFoundError(`no output ${name}`)
    }
    return value
  }
  const context = { table: audited.table, local: false, stage: 'dev', dataDirectory: '.data', json: false }
  return runCommand(
    { ...command, run: (given, values) => command.run({ ...given, output }, values) },
    { ...context, options },
  )
}

function answering(payload: object | null, FunctionError?: string): void {
  const Payload = Object.assign(Buffer.from(JSON.stringify(payload)), { transformToString: () => '' })
  lambda.on(InvokeCommand).resolves({ Payload: Object(Payload), ...(FunctionError ? { FunctionError } : {}) })
}
const sent = () =>
  lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => ({
    function: input.FunctionName,
    action: JSON.parse(String(input.Payload)),
  }))

const VIEW = {
  keyPairId: 'K1',
  createdAt: Date.UTC(2030, 0, 1),
  state: 'signs',
  signsFrom: Date.UTC(2030, 0, 1, 0, 15),
  neededUntil: null,
}

describe('the keys of a stage that makes its own', () => {
  it.each([
    [cdnKeyList, { action: 'list' }, {}],
    [cdnKeyRotate, { action: 'rotate' }, {}],
    [cdnKeyRemove, { action: 'remove', keyPairId: 'K0' }, { 'key-pair-id': 'K0' }],
  ])('are changed by its function alone: nobody else reads a private key', async (command, action, options) => {
    answering({ keys: [VIEW] })
    const { json } = await run(command, MANAGED, options)
    expect(sent()).toEqual([{ function: 'maker', action }])
    expect(json).toEqual({
      keys: [
        { key_pair_id: 'K1', state: 'signs', created_at: '2030-01-01T00:00:00Z', signs_from: null, needed_until: null },
      ],
    })
  })

  it('are not changed when the function refuses, whose sentence is told', async () => {
    answering({ refused: 'five keys are needed' })
    await expect(run(cdnKeyRotate, MANAGED)).rejects.toThrow('five keys are needed')
  })

  it.each([
    ['fails', { errorType: 'AccessDenied', errorMessage: 'no' }, 'Unhandled'],
    ['answers something else', null, undefined],
  ])('are not said to be changed when the function %s', async (_, payload, functionError) => {
    answering(payload, functionError)
    await expect(run(cdnKeyRotate, MANAGED)).rejects.toBeInstanceOf(CommandFailedError)
  })

  it('are recorded when they were changed, with the id of the key', async () => {
    answering({ keys: [{ ...VIEW, keyPairId: 'K2', createdAt: VIEW.createdAt + 1, state: 'next' }, VIEW] })
    await run(cdnKeyRotate, MANAGED)
    await run(cdnKeyRemove, MANAGED, { 'key-pair-id': 'K0' })
    await run(cdnKeyList, MANAGED)
    answering({ refused: 'it signs' })
    await expect(run(cdnKeyRemove, MANAGED, { 'key-pair-id': 'K1' })).rejects.toThrow('it signs')
    expect(audited.entries).toMatchObject([
      { action: 'cdn-key rotate', target: 'K2', before: null, after: { state: 'next' } },
      { action: 'cdn-key remove', target: 'K0', before: { state: 'verifies' }, after: null },
    ])
  })

  it('cannot be imported', async () => {
    const file = join(directory, 'own.pem')
    const { id } = makeKey(file)
    const imported = run(cdnKeyImport, MANAGED, { 'key-pair-id': id, 'private-key-file': file })
    await expect(imported).rejects.toThrow('cdn-key rotate')
  })
})

/** A key pair of the team: the private half in a file, the public half deployed. */
function makeKey(file: string): { id: string; privateKeyPem: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  // As `openssl genrsa -traditional` writes it: the secret gets one form whatever the file has.
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const EncodedKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()
  return {
    id: cloudFront.addPublicKey({ EncodedKey }),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

describe('keys that the team brings', () => {
  const file = join(directory, 'brought.pem')
  const imported = (id: string) => run(cdnKeyImport, BROUGHT, { 'key-pair-id': id, 'private-key-file': file })
  const states = async (answer: Promise<{ json: unknown }>) =>
    Object((await answer).json).keys.map(
      (key: { key_pair_id: string; state: string }) => `${key.key_pair_id} ${key.state}`,
    )

  it('sign at once when they are the first, and after 15 minutes when they follow another', async () => {
    const first = makeKey(file)
    expect(await states(imported(first.id))).toEqual([`${first.id} signs`])
    expect(secret.keys).toMatchObject([{ keyPairId: first.id, privateKeyPem: first.privateKeyPem }])
    const now = Date.now() + 1
    jest.spyOn(Date, 'now').mockImplementation(() => now)
    const second = makeKey(file)
    expect(await states(imported(second.id))).toEqual([`${first.id} signs`, `${second.id} next`])
    jest.spyOn(Date, 'now').mockImplementation(() => now + 15 * 60_000)
    expect(await states(run(cdnKeyList, BROUGHT))).toEqual([`${first.id} verifies`, `${second.id} signs`])
    expect(await states(run(cdnKeyRemove, BROUGHT, { 'key-pair-id': first.id }))).toEqual([`${second.id} signs`])
    expect(secret.keys).toHaveLength(1)
  })

  it('that are imported again are the same keys, as old as before', async () => {
    const { id } = makeKey(file)
    await imported(id)
    const before = secret.text
    jest.spyOn(Date, 'now').mockImplementation(() => 4_000_000_000_000)
    await imported(id)
    expect(secret.text).toBe(before)
    expect(audited.entries).toMatchObject([{ action: 'cdn-key import', target: id, after: { state: 'signs' } }])
  })

  it.each([
    ['another key than the deployed one', () => void makeKey(file)],
    ['no key', () => writeFileSync(file, 'hunter2')],
    ['no file', () => rmSync(file)],
  ])('are refused when the file holds %s, and nothing of it is quoted', async (_, change) => {
    const { id } = makeKey(file)
    change()
    const error = await imported(id).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CommandFailedError)
    expect(String(error)).not.toContain('hunter2')
    expect(secret.text).toBe('{}')
  })

  it('are refused when CloudFront does not know them', async () => {
    makeKey(file)
    await expect(imported('K404')).rejects.toThrow('deploy it first')
  })

  it('cannot be removed while they sign, and are rotated by a deployment', async () => {
    const { id } = makeKey(file)
    await imported(id)
    await expect(run(cdnKeyRemove, BROUGHT, { 'key-pair-id': id })).rejects.toThrow('signs')
    await expect(run(cdnKeyRotate, BROUGHT)).rejects.toThrow('cdnPublicKey')
  })
})

describe('a stage without keys of a CDN', () => {
  it('is told apart: a local host, and one that serves from the bucket', async () => {
    await expect(runCommand(cdnKeyRotate, { local: true })).rejects.toThrow('cdn-key.pem')
    await expect(run(cdnKeyList, {})).rejects.toThrow('has no CDN')
  })
})
