import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import { findFreePort } from '#local/dynamodb-engine.ts'
import { REQUESTS_END_MILLISECONDS_MAX } from '#local/local-host.ts'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-client.ts'

const GOOD = { model: 'famB-1.1-t2v', prompt: 'a cat runs on grass' }

/** Processes that work on a data directory. */
function processesOf(dataDirectory: string, columns = 'args'): string[] {
  return execFileSync('ps', ['-eo', columns], { encoding: 'utf8' })
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

  it('ends within seconds while a simulated upstream hangs, also when its client has left', async () => {
    const gateway = await start({ key: 'hang-key' })
    const post = (path: string, body: object, signal?: AbortSignal) =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer hang-key' },
        body: JSON.stringify(body),
        signal: signal ?? null,
      }).catch((error: Error) => error)
    const hanging = { model: 'chat-default', messages: [{ role: 'user', content: '[hang] Hello' }] }
    const chat = (signal?: AbortSignal) => post('/v1/chat/completions', hanging, signal)
    const waiting = Promise.all([chat(), post('/v1/video/generations', { ...GOOD, prompt: '[hang]' })])
    expect(await chat(AbortSignal.timeout(500))).toMatchObject({ name: 'TimeoutError' })
    const begun = performance.now()
    expect(await gateway.stop()).toBe(0)
    expect(performance.now() - begun).toBeLessThan(REQUESTS_END_MILLISECONDS_MAX / 2)
    await waiting
  })

  it('accepts its key from the first request on that it responds to', async () => {
    const port = await findFreePort()
    const starting = start({ parameters: ['--port', String(port)], key: 'early-key' })
    const headers = { authorization: 'Bearer early-key' }
    const ask = () => fetch(`http://127.0.0.1:${port}/v1/balance`, { headers }).then(({ status }) => status)
    const first = await eventually(
      () => ask().catch(() => undefined),
      (status) => status !== undefined,
    )
    expect(first).toBe(200)
    await starting
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

  describe('that loses the program that started it', () => {
    const START = ['start', '--', '--simulators', '--json', '--port', '0']

    /** Runs a command that starts a host, and waits until the host is ready. */
    async function startBy(command: string, parameters: readonly string[]) {
      const child = spawn(command, parameters, {
        cwd: REPOSITORY,
        env: withoutRunner(),
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      for await (const line of createInterface(child.stdout)) {
        if (line.startsWith('{')) {
          return { child, ready: JSON.parse(line) }
        }
      }
      throw new Error('the host ended before it was ready')
    }

    /** Every process of the host has ended, and its port is free. */
    async function expectGone(data: string, url: string) {
      await eventually(
        async () => processesOf(data),
        (processes) => processes.length === 0,
      )
      const server = createServer()
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(Number(new URL(url).port), '127.0.0.1', () => server.close(() => resolve()))
      })
    }

    it('ends with npm, when npm is killed', async () => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const { child, ready } = await startBy('npm', [...START, '--data-dir', data])
      child.kill('SIGKILL')
      await expectGone(data, ready.url)
    })

    it('ends with the shell that runs npm, when the shell is killed', async () => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const script = `npm ${START.join(' ')} --data-dir ${data}; echo over`
      const { child, ready } = await startBy('sh', ['-c', script])
      child.kill('SIGKILL')
      await expectGone(data, ready.url)
    })

    /** A program that starts a host without a stdin, as of `subprocess.Popen` in a CI. */
    const programOf = (data: string, options = '') =>
      `require('node:child_process').spawn('npm', ${JSON.stringify([...START, '--data-dir', data])}, { stdio: ['ignore', 'inherit', 'inherit'] ${options} })`

    it('ends with the program that runs npm, when the program is killed, without a pipe as stdin', async () => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const { child, ready } = await startBy(process.execPath, ['-e', programOf(data)])
      child.kill('SIGKILL')
      await expectGone(data, ready.url)
    })

    it('outlives a program that gave it a session of its own', async () => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const { child, ready } = await startBy(process.execPath, ['-e', programOf(data, ', detached: true')])
      child.kill('SIGKILL')
      await delay(2_000)
      expect((await fetch(`${ready.url}/health`)).status).toBe(200)
      await stopHost(data, ready.url)
    })

    /** Ends a host that has outlived whoever started it. */
    async function stopHost(data: string, url: string) {
      const host = processesOf(data, 'pid,args').find((line) => line.includes('bin/local.ts'))
      process.kill(Number.parseInt(host ?? '', 10), 'SIGTERM')
      await expectGone(data, url)
    }

    /** A file that runs by its first line: its process has the name of the file. */
    const executable = (script: string) => {
      const file = join(mkdtempSync(join(tmpdir(), 'script-')), 'gateway.sh')
      writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return file
    }

    it.each([
      ['its shell', (script: string) => ['sh', '-c', script]],
      ['its script', (script: string) => ['env', executable(script)]],
    ])('outlives %s when it was started in the background', async (_, commandOf) => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const [command = '', ...parameters] = commandOf(`npm ${START.join(' ')} --data-dir ${data} & read line`)
      const { child, ready } = await startBy(command, parameters)
      child.stdin.end()
      await once(child, 'exit')
      await delay(2_000)
      expect((await fetch(`${ready.url}/health`)).status).toBe(200)
      await stopHost(data, ready.url)
    })

    it('ends when the pipe closes that it got as stdin', async () => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const { child, ready } = await startBy('npm', [...START, '--data-dir', data])
      child.stdin.end()
      expect(await once(child, 'exit')).toEqual([0, null])
      await expectGone(data, ready.url)
    })

    it('starts with a stdin that is closed from the beginning', async () => {
      const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
      const { child, ready } = await startBy('sh', ['-c', `sleep 0 | npm ${START.join(' ')} --data-dir ${data}`])
      await delay(1_000)
      expect((await fetch(`${ready.url}/health`)).status).toBe(200)
      child.kill('SIGKILL')
      await expectGone(data, ready.url)
    })
  })

  it('simulates every upstream and starts its own engines with --simulators, whatever the shell says', async () => {
    const gateway = await start({
      parameters: ['--simulators'],
      environment: {
        P1_BASE_URL: 'http://127.0.0.1:9',
        RELAY_BASE_URL: 'http://127.0.0.1:9/v1',
        RELAY_CHAT_MODEL: 'other',
        AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
        AWS_PROFILE: 'nobody',
        AWS_ACCESS_KEY_ID: 'x',
      },
    })
    const id = String((await gateway.api.create(GOOD)).json.id)
    expect((await gateway.api.until(id, 'succeeded', 'failed')).status).toBe('succeeded')
    expect(gateway.output()).toMatch(/^channels {8}p1-main +simulated\n +p2-direct +simulated$/m)
  })

  it('prints which upstream each channel talks to', async () => {
    const environment = { P2_DIRECT_BASE_URL: 'https://two.example.com', P2_DIRECT_API_KEY: 'k' }
    const gateway = await start({ environment })
    expect(gateway.output()).toMatch(/^ +p2-direct +https:\/\/two\.example\.com$/m)
  })

  it('writes one line for each request, and one for a failure of an upstream', async () => {
    const gateway = await start({ environment: { LOG_LEVEL: 'INFO', POWERTOOLS_METRICS_DISABLED: 'true' } })
    const chat = (content: string) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer e2e-key' },
        body: JSON.stringify({ model: 'chat-default', messages: [{ role: 'user', content }] }),
      })
    expect((await chat('Hello')).status).toBe(200)
    expect((await chat('[error:500] my prompt')).status).toBe(502)
    expect((await fetch(`${gateway.url}/v1/nope?key=secret`)).status).toBe(404)
    const lines = await eventually(
      async () =>
        gateway
          .output()
          .split('\n')
          .filter((line) => /^\d\d:\d\d:\d\d/.test(line)),
      (found) => found.length >= 4,
    )
    // A relayed request has its line when it is settled, which is after its response.
    expect(lines.map((line) => line.slice(14)).toSorted()).toEqual([
      expect.stringMatching(/^GET \/v1\/nope 404 \d+ ms/),
      expect.stringMatching(
        /^POST \/v1\/chat\/completions 200 \d+ ms {2}chat-default by openai-main {2}\d+ \+ \d+ tokens {2}0\.\d+ credits {2}tenant demo/,
      ),
      expect.stringMatching(/^POST \/v1\/chat\/completions 502 \d+ ms {2}HTTP 500 {2}chat-default {2}tenant demo/),
      expect.stringMatching(/^WARN channel failed: HTTP 500 {2}requestId=\S+ {2}channelId=openai-main/),
    ])
    expect(gateway.output()).not.toMatch(/my prompt|key=secret|\n\s+at /)
  })

  it('continues to serve after the reader of its log disconnects', async () => {
    const gateway = await start({ environment: { LOG_LEVEL: 'INFO' } })
    gateway.process.stdout?.destroy()
    gateway.process.stderr?.destroy()
    for (let round = 0; round < 5; round += 1) {
      expect((await gateway.api.list()).status).toBe(200)
    }
    expect(await gateway.stop()).toBe(0)
  })

  it('prints the webhook secret of its tenant at the first start, and then the command that shows it', async () => {
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
    const again = await printed(await start({ dataDirectory, configFile }))
    expect(again).not.toContain('whsec_')
    const command = `callback-secret show --tenant demo --local --data-dir '${dataDirectory}'`
    expect(again).toContain(`webhook secret  npm run admin -- ${command}`)
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
    expect(await second.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
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
    expect(await second.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
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
    [
      'a missing configuration',
      ['--config', 'nowhere.yaml'],
      1,
      /cannot read the configuration file \/.*\/nowhere\.yaml/,
    ],
    ['a port that is none', ['--port', 'x'], 2, /--port x: use a number/],
    ['an unknown option', ['--prot', '1'], 2, /there is no option --prot; did you mean --port\?/],
    [
      'a secret that signs nothing',
      ['--webhook-secret', 'secret'],
      1,
      /--webhook-secret: a webhook secret is "whsec_"/,
    ],
    ['milliseconds that are none', ['--video-milliseconds', '1'], 2, /--video-milliseconds 1: use a number from 4/],
    [
      'a host name that is none',
      ['--allowed-host', 'http://gateway.test'],
      2,
      /--allowed-host \S+: use a name without/,
    ],
    ['credits that are no amount', ['--credits', '1.2345678'], 2, /--credits "1\.2345678" is not an amount/],
  ])('explains %s and exits 1, or 2 for a mistyped command', (_, parameters, code, message) => {
    const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
    const { status, stderr } = runLocal(['--data-dir', data, ...parameters])
    expect(status).toBe(code)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('gives the first grant after a start that refused its key', async () => {
    const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
    const refused = runLocal(['--data-dir', data, '--api-key', 'a b'])
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('--api-key: use visible ASCII')])
    const { api } = await start({ dataDirectory: data, credits: '5' })
    expect((await api.send('GET', '/v1/balance')).json).toMatchObject({ granted: '5' })
  })

  it('refuses to hurry a real upstream of videos', () => {
    const data = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
    const parameters = ['--data-dir', data, '--config', SHIPPED_FILE, '--video-milliseconds', '100']
    const { status, stderr } = runLocal(parameters, { P1_BASE_URL: 'http://127.0.0.1:9', P1_API_KEY: 'k' })
    expect(status).toBe(1)
    expect(stderr).toContain('--video-milliseconds is for simulated videos, and channel p1-main has a real upstream')
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
