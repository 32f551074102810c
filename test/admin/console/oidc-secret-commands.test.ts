import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { consoleOidcSecretRemove, createConsoleOidcSecretSet } from '../../../lib/cli/admin/console.ts'
import { FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { recordingTable } from '../audit/recording-table.ts'
import { runCommand } from '../command-line/run-command.ts'

const PROOF = { current: 'a-value', previous: 'an-earlier-value', rotation: 'open' }
const VALUE = 'value-of-the-provider'
const outputs = { FrontDoorSecretArn: 'arn:front-door' }
let secret: FakeSecret
let audited: ReturnType<typeof recordingTable>

beforeEach(() => {
  secret = new FakeSecret()
  secret.text = JSON.stringify(PROOF)
  audited = recordingTable()
})

const entries = () => JSON.parse(secret.text)

function set(value: string, local = false) {
  const input = new PassThrough()
  input.end(value)
  const command = createConsoleOidcSecretSet(() => input)
  return runCommand(command, { table: audited.table, outputs, local, options: { 'value-from-stdin': true } })
}
const remove = (confirm = async () => undefined) =>
  runCommand(consoleOidcSecretRemove, { table: audited.table, outputs, confirm })

describe('console oidc-secret set', () => {
  it('stores the value beside the values that prove the front door, also during a rotation', async () => {
    expect((await set(`${VALUE}\n`)).json).toEqual({ state: 'set', version: expect.any(String) })
    expect(entries()).toEqual({ ...PROOF, oidc_client_secret: VALUE })
    expect((await set('another-value')).json).toMatchObject({ state: 'replaced' })
    expect(entries()).toEqual({ ...PROOF, oidc_client_secret: 'another-value' })
  })

  it('loses nothing of a rotation that happens at the same moment', async () => {
    const rotated = { ...PROOF, current: 'a-later-value', previous: 'a-value' }
    secret.beforeMove = () => {
      secret.beforeMove = () => undefined
      secret.text = JSON.stringify(rotated)
    }
    await set(VALUE)
    expect(entries()).toEqual({ ...rotated, oidc_client_secret: VALUE })
  })

  it('is recorded before the change, and neither the entry nor the answer has the value', async () => {
    secret.beforeMove = () => {
      expect(audited.entries).toHaveLength(1)
    }
    const answer = await set(VALUE)
    expect(audited.entries).toMatchObject([
      {
        ...{ action: 'console oidc-secret set', kind: 'secret', target: 'oidc-client' },
        ...{ before: { state: 'missing' }, after: { state: 'set' } },
      },
    ])
    expect(JSON.stringify([answer, audited.entries])).not.toContain(VALUE)
  })

  it('changes and records nothing for the value that is stored, and for one that cannot be sent', async () => {
    await set(VALUE)
    expect((await set(VALUE)).json).toEqual({ state: 'unchanged' })
    await expect(set('two words')).rejects.toThrow('oidc_client_secret')
    await expect(set('')).rejects.toThrow('empty')
    expect(audited.entries).toHaveLength(1)
  })

  it('says what a local host reads instead', async () => {
    await expect(set(VALUE, true)).rejects.toThrow('set CONSOLE_OIDC_CLIENT_SECRET and restart the host')
  })
})

describe('console oidc-secret remove', () => {
  it('removes the entry alone, once, after a confirmation', async () => {
    await set(VALUE)
    const refused = () => Promise.reject(new Error('not confirmed'))
    await expect(remove(refused)).rejects.toThrow('not confirmed')
    expect(entries().oidc_client_secret).toBe(VALUE)
    await remove()
    expect(entries()).toEqual(PROOF)
    await expect(remove()).rejects.toThrow('there is no client secret')
    expect(audited.entries).toHaveLength(2)
  })
})
