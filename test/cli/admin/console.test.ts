import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { ZERO } from '#core/money.ts'
import { findSignInLink } from '#store/sessions/sessions.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import {
  consoleKeyCreate,
  consoleKeyList,
  consoleKeyRevoke,
  consoleLink,
  consoleOidcSecretRemove,
  createConsoleOidcSecretSet,
} from '../../../lib/cli/admin/console.ts'
import { FakeSecret } from '../../cdn-signing-key/key-services.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { recordingTable, runCommand } from './run-command.ts'

describe('console key', () => {
  const engine = useTestTable()

  const run = async (command: typeof consoleKeyCreate, options: Record<string, string> = {}) =>
    await runCommand(command, { table: engine.table, options })

  it('create shows the key once; list shows its id, name, role and state; revoke ends it', async () => {
    const { json, text } = await run(consoleKeyCreate, { name: 'ada', role: 'viewer' })
    const { id, key } = Object(json)
    expect(text).toContain(key)
    const listed = await run(consoleKeyList)
    expect(listed.json).toEqual({
      keys: [{ id, name: 'ada', role: 'viewer', tenant: null, state: 'active', created_at: expect.any(String) }],
    })
    expect(listed.text).not.toContain(key)
    await run(consoleKeyRevoke, { key: id })
    expect(Object((await run(consoleKeyList)).json).keys).toMatchObject([{ id, state: 'revoked' }])
  })

  it.each([
    [{ name: 'ada', role: 'root' }, /use owner, viewer, finance, tenant-admin, tenant-viewer/],
    [{ name: '', role: 'owner' }, /--name is empty/],
    [{ name: 'ada', role: 'owner', tenant: 'demo' }, /takes no --tenant/],
    [{ name: 'ada', role: 'tenant-admin' }, /needs --tenant/],
    [{ name: 'ada', role: 'tenant-viewer', tenant: 'nobody' }, /no tenant nobody/],
    [{ name: `rg_admin_8fK2mQ0z_${'x'.repeat(38)}`, role: 'owner' }, /contains a key/],
  ])('create refuses %j', async (options, message) => {
    await expect(run(consoleKeyCreate, options)).rejects.toThrow(message)
  })

  it('create gives a key of a tenant its tenant, by id or by name', async () => {
    const { id } = await makeTenant(engine.table, { name: 'Acme', credits: ZERO }, TESTER)
    for (const tenant of [id, 'Acme']) {
      const { json } = await run(consoleKeyCreate, { name: 'ci', role: 'tenant-admin', tenant })
      expect(json).toMatchObject({ role: 'tenant-admin', tenant: id })
    }
  })

  it('revoke names an unknown key', async () => {
    await expect(run(consoleKeyRevoke, { key: 'nobody00' })).rejects.toThrow(/no admin key has the id nobody00/)
  })
})

describe('console link', () => {
  const engine = useTestTable()

  it('prints a link of the local host that signs in the user of the machine', async () => {
    const outputs = { BaseUrl: 'http://127.0.0.1:8787' }
    const { text } = await runCommand(consoleLink, { table: engine.table, local: true, outputs })
    const [, secret = ''] = /^http:\/\/127\.0\.0\.1:8787\/console#link=(\S{43})$/.exec(text) ?? []
    expect(await findSignInLink(engine.table, secret, Date.now())).toMatchObject({ actor: 'tester@test' })
  })

  it('is refused for a deployed stage', async () => {
    await expect(runCommand(consoleLink, { table: engine.table })).rejects.toThrow(/--local/)
  })
})

describe('oidc secret commands', () => {
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

    it('is recorded before the change, and neither the entry nor the output has the value', async () => {
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
})
