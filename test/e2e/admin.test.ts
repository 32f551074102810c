import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
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
      env: withoutRunner(),
      encoding: 'utf8',
    })
  }

  it('creates a tenant, grants credits, and shows decimal credits without trailing zeros', async () => {
    const made = Object(await gateway.admin('tenant', 'create', '--name', 'Acme', '--credits', '10.00'))
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Acme',
      available: '10',
      held: '0',
      spent: '0',
      granted: '10',
      webhook_secret: expect.stringMatching(/^whsec_/),
      budget: null,
      state: 'active',
      open_jobs: 0,
      open_jobs_max: 10,
      created_at: expect.stringMatching(/Z$/),
    })
    await gateway.admin('tenant', 'grant', '--tenant', made.id, '--credits', '0.000001')
    const { webhook_secret, ...shown } = made
    expect(await gateway.admin('tenant', 'show', '--tenant', made.id)).toEqual({
      ...shown,
      available: '10.000001',
      granted: '10.000001',
      alerts: { thresholds: [50, 80, 100], low_balance: null, url_host: null },
    })
    expect(await gateway.admin('ledger', '--tenant', made.id)).toEqual({
      entries: [
        {
          kind: 'grant',
          job: null,
          amount: '0.000001',
          actual: null,
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          id: expect.any(String),
        },
        { kind: 'grant', job: null, amount: '10', actual: null, at: expect.any(String), id: expect.any(String) },
      ],
    })
    expect(await gateway.admin('ledger', '--tenant', made.id, '--limit', '1')).toMatchObject({
      entries: [{ amount: '0.000001' }],
    })
  })

  it('creates a key that works at once, lists it without its secret, and revokes it', async () => {
    const made = Object(await gateway.admin('key', 'create', '--tenant', 'demo', '--models', 'famB-1.1-t2v, famA-2'))
    expect(made).toEqual({
      id: expect.stringMatching(/^\w{8}$/),
      key: expect.stringMatching(/^rg_live_/),
      tenant: 'demo',
      models: ['famB-1.1-t2v', 'famA-2'],
      rate_per_minute: 300,
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
    expect(plain('ledger', '--tenant', 'demo').stdout).toMatch(/^AT\s+KIND\s+AMOUNT\s+ACTUAL\s+JOB\s+ID\n/)
    expect(plain('ledger', 'verify').stdout).toBe('every invariant holds\n')
    expect(plain('--help').stdout).toMatch(/\n {2}tenant create +create a tenant/)
  })

  it('finds a running job by its id and cancels it: it fails and releases its credits', async () => {
    const { json: created } = await gateway.api.create({ model: 'famB-1.1-t2v', prompt: '[queue:60] a boat' })
    const job = String(created.id)
    expect(await gateway.admin('job', 'find', '--job', job)).toMatchObject({ id: job, tenant: 'demo' })
    const refused = plain('job', 'cancel', '--job', job)
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('say --yes')])
    expect(await gateway.admin('job', 'cancel', '--job', job, '--yes')).toEqual({
      id: job,
      tenant: 'demo',
      status: 'failed',
      error: 'cancelled by the operator',
      changed: true,
    })
    expect((await gateway.api.get(job)).json).toMatchObject({ status: 'failed', error: 'cancelled by the operator' })
    expect(await gateway.admin('tenant', 'show', '--tenant', 'demo')).toMatchObject({ available: '100', held: '0' })
    const timeline = JSON.stringify(await gateway.admin('job', 'timeline', '--job', job))
    // The second execution is left out where the first one found the video finished before the cancellation came.
    expect(timeline).toMatch(new RegExp(`"execution started","execution":"${job}(-1)?"`))
    expect(plain('ledger', 'export', '--tenant', 'demo').stdout).toMatch(
      new RegExp(
        `^tenant,tenant_name,at,.*\r\ndemo,Demo,.*Z,reserve,${job},0\\.7,,,.*\r\ndemo,Demo,.*Z,release,${job},`,
      ),
    )
  })

  it('reports the host as healthy and the differences of its configuration', async () => {
    expect(await gateway.admin('health')).toMatchObject({ ok: true })
    const { status, stdout } = plain('catalogue', 'diff', '--config', SHIPPED_FILE)
    expect(status).toBe(1)
    // The host of the tests polls faster than the shipped file says, may lack channels of it, and differs in nothing else.
    const differences = stdout.match(/^[~+-] .*$/gm)?.filter((line) => !line.startsWith('+ channels.'))
    expect(new Set(differences?.map((line) => line.replace(/channels\.[\w-]+\./, '')))).toEqual(new Set(['~ poll']))
  })

  it('compares the host with the file that it was started with', async () => {
    expect(await gateway.admin('catalogue', 'diff')).toMatchObject({ same: true, changes: [] })
    expect(await gateway.admin('catalogue', 'check')).toMatchObject({ ok: true, file: gateway.configFile })
  })

  it('reports output that cannot be written', () => {
    const full = openSync('/dev/full', 'w')
    const parameters = ['--import', './bin/require-node.mjs', 'bin/admin.ts', 'key', 'list', '--json', '--local']
    const { status, stderr } = spawnSync(process.execPath, [...parameters, '--data-dir', gateway.dataDirectory], {
      cwd: REPOSITORY,
      env: withoutRunner(),
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    expect(JSON.parse(stderr)).toEqual({ error: expect.stringContaining('could not be written (ENOSPC)') })
    expect(status).toBe(1)
  })

  it.each([
    [2, ['tenant', 'shwo'], /no command "tenant shwo"; did you mean "tenant show"\?/],
    [
      2,
      ['tenant', 'show'],
      /--tenant is missing: the tenant, by its id or by a name that no other tenant has\n\nusage: npm run admin -- tenant show --tenant ID\|NAME \[--show-secret\]\n/,
    ],
    [2, ['tenant', 'list', '--stage', 'prod'], /^--local and --stage are two places: give one of them\n/],
    [1, ['tenant', 'show', '--tenant', 'nobody'], /^no tenant nobody\n$/],
    [2, ['tenant', 'create', '--name', 'x', '--credits=-1'], /"-1" is not an amount/],
    [1, ['key', 'create', '--tenant', 'nobody'], /no tenant nobody/],
    [1, ['key', 'revoke', '--key', 'nothing', '--json'], /^\{"error":"no key nothing"\}\n$/],
  ])('exits %i for %j with one sentence on stderr, without a stack or output', (code, command, message) => {
    const { status, stdout, stderr } = plain(...command)
    expect(status).toBe(code)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(stdout).toBe('')
  })
})
