import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-client.ts'

const GOOD = { model: 'famB-1.1-t2v', prompt: 'a cat runs on grass' }

/** Processes that work on a data directory. */
function processesOf(dataDirectory: string): string[] {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(dataDirectory))
}

function enginesOf(dataDirectory: string): string[] {
  return processesOf(dataDirectory).filter((line) => line.includes('dynoxide'))
}

describe('the local host as an operator meets it', () => {
  const running: Gateway[] = []
  const start = async (options?: Parameters<typeof startGateway>[0]) => {
    const gateway = await startGateway(options)
    running.push(gateway)
    return gateway
  }

  afterEach(async () => {
    await Promise.all(running.splice(0).map((gateway) => gateway.kill()))
  })

  it('exits with status 0 on SIGTERM, and stops every engine', async () => {
    const gateway = await start()
    expect(enginesOf(gateway.dataDirectory).length).toBeGreaterThan(0)
    expect(await gateway.stop()).toBe(0)
    await eventually(
      async () => enginesOf(gateway.dataDirectory),
      (engines) => engines.length === 0,
    )
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'npm start exits with status 0 on %s to npm itself, and stops every child process',
    async (signal) => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const npm = spawn('npm', ['start', '--', '--port', '0', '--data-dir', data, '--config', SHIPPED_FILE], {
        cwd: REPOSITORY,
        env: withoutRunner(),
      })
      await new Promise<void>((resolve) => {
        npm.stdout.on('data', (chunk) => String(chunk).includes('listening on') && resolve())
      })
      const exited = once(npm, 'exit')
      npm.kill(signal)
      expect(await exited).toEqual([0, null])
      await eventually(
        async () => processesOf(data),
        (processes) => processes.length === 0,
      )
    },
  )

  it('continues to serve after the reader of its log disconnects', async () => {
    const gateway = await start({ environment: { LOG_LEVEL: 'INFO' } })
    gateway.process.stdout?.destroy()
    gateway.process.stderr?.destroy()
    for (let round = 0; round < 5; round += 1) {
      expect((await gateway.api.list()).status).toBe(200)
    }
    expect(await gateway.stop()).toBe(0)
  })

  it('prints the webhook secret of its tenant at the first start only', async () => {
    const printed = async (gateway: Gateway) => {
      await eventually(
        async () => gateway.output(),
        (output) => output.includes('curl -s'),
      )
      await gateway.stop()
      return gateway.output()
    }
    const first = await start()
    expect(await printed(first)).toMatch(/^webhook secret {2}whsec_/m)
    const { dataDirectory, configFile } = first
    expect(await printed(await start({ dataDirectory, configFile }))).not.toContain('whsec_')
  })

  it('records a running submit before it stops, so that the job continues after the restart', async () => {
    const first = await start()
    const creating = first.api.create({ ...GOOD, prompt: '[late:3] a cat' }).catch(() => undefined)
    await eventually(
      async () => JSON.stringify((await first.api.list()).json.data),
      (jobs) => jobs.includes('queued'),
    )
    const id = String(Object((await first.api.list()).json).data[0].id)
    expect(await first.stop()).toBe(0)
    await creating
    const second = await start({ dataDirectory: first.dataDirectory, configFile: first.configFile })
    expect((await second.api.until(id, 'succeeded', 'failed')).status).toBe('succeeded')
  })

  it('finishes its jobs after a kill and a restart, with one submit each and a valid ledger', async () => {
    const first = await start()
    const created = await Promise.all(Array.from({ length: 6 }, () => first.api.create(GOOD)))
    const ids = created.map(({ json }) => String(json.id))
    await first.kill()
    await eventually(
      async () => enginesOf(first.dataDirectory),
      (engines) => engines.length === 0,
    )

    const { dataDirectory, configFile } = first
    const second = await start({ dataDirectory, configFile })
    const jobs = await Promise.all(ids.map((id) => second.api.until(id, 'succeeded', 'failed')))
    expect(jobs.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'))
    const tasks = jobs.map((job) => Object(job.output).task_id)
    expect(tasks).toEqual(created.map(({ json }) => Object(json.output).task_id))
    expect(await second.admin('ledger', 'verify')).toEqual({ ok: true, broken: [] })
    expect(await second.admin('tenant', 'show', '--tenant', 'demo')).toMatchObject({
      held: '0',
      spent: '4.2',
      available: '95.8',
    })
    expect((await fetch(String(jobs[0]?.url))).status).toBe(200)
  })

  it('starts after a kill with empty or truncated state files', async () => {
    const first = await start()
    const { dataDirectory, configFile } = first
    await first.kill()
    for (const name of ['host.json', 'simulator-ports.json', 'cl100k_base.json', 'cdn-key.pem', 'demo-key']) {
      writeFileSync(join(dataDirectory, name), name === 'cl100k_base.json' ? '{"encoding":"cl100k_base","by' : '')
    }
    const second = await start({ dataDirectory, configFile })
    const long = await fetch(`${second.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: 'Bearer e2e-key' },
      body: JSON.stringify({ model: 'text-embedding-3-small', input: 'word '.repeat(4000) }),
    })
    expect(long.status).toBe(200)
    expect(second.output()).toContain('simulator-ports.json is empty, cut or of another program: it is made anew')
    expect(second.output()).not.toMatch(/\n\s+at /)
    const id = String((await second.api.create(GOOD)).json.id)
    const { url } = await second.api.until(id, 'succeeded', 'failed')
    expect((await fetch(String(url))).status).toBe(200)
    expect(await second.admin('ledger', 'verify')).toEqual({ ok: true, broken: [] })
  })

  it('runs beside another host, each with its own jobs and keys', async () => {
    const [left, right] = await Promise.all([start({ key: 'left' }), start({ key: 'right' })])
    const id = String((await left.api.create(GOOD)).json.id)
    expect((await right.api.get(id)).status).toBe(404)
    expect((await right.api.withKey('left').list()).status).toBe(401)
    expect((await left.api.until(id, 'succeeded')).status).toBe('succeeded')
  })

  it('refuses a data directory in use, in one sentence', async () => {
    const { dataDirectory, configFile } = await start()
    const second = runLocal(['--port', '0', '--data-dir', dataDirectory, '--config', configFile])
    expect(second.status).toBe(1)
    expect(second.stderr).toMatch(/is in use by a running host/)
    expect(second.stderr.trim().split('\n')).toHaveLength(1)
  })

  it.each([
    ['a broken configuration', ['--config', brokenConfig()], 1, /channels\[0\]\.provider: .*p1/],
    ['a missing configuration', ['--config', 'nowhere.yaml'], 1, /cannot read the configuration file nowhere\.yaml/],
    ['a port that is none', ['--port', 'x'], 2, /--port x: use a number/],
    ['an unknown option', ['--prot', '1'], 2, /Unknown option '--prot'/],
    ['credits that are no amount', ['--credits', '1.2345678'], 1, /"1\.2345678" is not an amount/],
  ])('explains %s and exits 1, or 2 for a mistyped command', (_, parameters, code, message) => {
    const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
    const { status, stderr } = runLocal(['--data-dir', data, ...parameters])
    expect(status).toBe(code)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('reports a missing key of a real upstream before it listens', () => {
    const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
    const { status, stderr } = runLocal(['--data-dir', data, '--config', SHIPPED_FILE], {
      P1_BASE_URL: 'http://127.0.0.1:9',
    })
    expect(status).toBe(1)
    expect(stderr).toMatch(/channel p1-main has an upstream and no key: set P1_API_KEY/)
  })
})

function brokenConfig(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'reelgate-e2e-')), 'broken.yaml')
  writeFileSync(file, 'channels: [{ id: one, provider: p9 }]\nmodels: []\n')
  return file
}

function runLocal(parameters: string[], environment: Record<string, string> = {}) {
  const command = ['--import', './bin/require-node.mjs', 'bin/local.ts', ...parameters]
  const env = { ...withoutRunner(), ...environment }
  return spawnSync(process.execPath, command, { cwd: REPOSITORY, env, encoding: 'utf8', timeout: 240_000 })
}
