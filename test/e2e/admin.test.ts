import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY, withoutJest } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

describe('npm run admin, against a running local host', () => {
  let gateway: Gateway

  beforeAll(async () => {
    gateway = await startGateway()
  })

  afterAll(async () => {
    await gateway.stop()
  })

  const plain = (...command: string[]) => {
    const parameters = ['--import', './bin/require-node.mjs', 'bin/admin.ts', ...command]
    const where = ['--local', '--data-dir', gateway.dataDirectory]
    return spawnSync(process.execPath, [...parameters, ...where], {
      cwd: REPOSITORY,
      env: withoutJest(),
      encoding: 'utf8',
    })
  }

  it('makes a tenant, grants to it, and shows it in decimal credits without trailing zeros', async () => {
    const made = Object(await gateway.admin('tenant', 'create', '--name', 'Acme', '--credits', '10.00'))
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Acme',
      available: '10',
      held: '0',
      spent: '0',
      granted: '10',
      webhook_secret: expect.stringMatching(/^whsec_/),
    })
    await gateway.admin('tenant', 'grant', '--tenant', made.id, '--credits', '0.000001')
    expect(await gateway.admin('tenant', 'show', '--tenant', made.id)).toEqual({
      ...made,
      available: '10.000001',
      granted: '10.000001',
    })
    expect(await gateway.admin('ledger', '--tenant', made.id)).toEqual({
      entries: [
        { kind: 'grant', job: null, amount: '0.000001', actual: null, at: expect.stringMatching(/^\d{4}-.*Z$/) },
        { kind: 'grant', job: null, amount: '10', actual: null, at: expect.any(String) },
      ],
    })
    expect(await gateway.admin('ledger', '--tenant', made.id, '--limit', '1')).toMatchObject({
      entries: [{ amount: '0.000001' }],
    })
  })

  it('makes a key that works at once, lists it without showing it, and revokes it', async () => {
    const made = Object(await gateway.admin('key', 'create', '--tenant', 'demo', '--models', 'famB-1.1-t2v, famA-2'))
    expect(made).toEqual({
      id: expect.stringMatching(/^\w{8}$/),
      key: expect.stringMatching(/^rg_live_/),
      tenant: 'demo',
      models: ['famB-1.1-t2v', 'famA-2'],
    })
    expect((await gateway.api.withKey(made.key).list()).status).toBe(200)
    const listed = JSON.stringify(await gateway.admin('key', 'list'))
    expect(listed).toContain(made.id)
    expect(listed).not.toContain(made.key)
    expect(await gateway.admin('key', 'revoke', '--key', made.id)).toEqual({ id: made.id, state: 'revoked' })
    expect((await gateway.api.withKey(made.key).list()).status).toBe(401)
  })

  it('prints tables for people', () => {
    expect(plain('tenant', 'show', '--tenant', 'demo').stdout).toMatch(/^id\s+demo\nname\s+Demo\navailable\s+100\n/)
    expect(plain('ledger', '--tenant', 'demo').stdout).toMatch(/^AT\s+KIND\s+AMOUNT\s+ACTUAL\s+JOB\n/)
    expect(plain('ledger', 'verify').stdout).toBe('every invariant holds\n')
    expect(plain('--help').stdout).toMatch(/tenant create --name NAME/)
  })

  it.each([
    [['tenant', 'destroy'], /no command "tenant destroy"/],
    [['tenant', 'show'], /--tenant is missing/],
    [['tenant', 'show', '--tenant', 'nobody'], /no tenant nobody/],
    [['tenant', 'create', '--name', 'x', '--credits=-1'], /"-1" is not an amount/],
    [['tenant', 'create', '--name', 'x', '--credits', '1.0000001'], /"1\.0000001" is not an amount/],
    [['tenant', 'grant', '--tenant', 'nobody', '--credits', '1'], /no tenant nobody/],
    [['key', 'create', '--tenant', 'nobody'], /no tenant nobody/],
    [['key', 'revoke', '--key', 'nothing'], /no key nothing/],
    [['ledger', '--tenant', 'demo', '--limit', '0'], /--limit 0: use a whole number/],
  ])('%j exits 1 with a sentence and no stack', (command, message) => {
    const { status, stderr } = plain(...command)
    expect(status).toBe(1)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})
