import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { whenTestEnds } from '../runner/when-test-ends.ts'
import { at, type Provider, useVideo } from './simulator-client.ts'

const PROVIDERS: readonly Provider[] = ['p1', 'p2', 'p2-proxy']

describe('a simulator', () => {
  it('records method, path with query, headers and body of each request', async () => {
    const { simulator, call } = await useVideo('p1')
    await call('/path?a=1', { body: { prompt: 'a cat' }, headers: { 'x-mark': 'yes' } })
    await fetch(`${simulator.baseUrl}/text`, { method: 'POST', body: 'not json' })
    expect(simulator.requests).toMatchObject([
      { method: 'POST', path: '/path?a=1', headers: { 'x-mark': 'yes' }, body: { prompt: 'a cat' } },
      { method: 'POST', path: '/text', body: 'not json' },
    ])
  })

  it('listens on its port and rejects a start on a taken port', async () => {
    const { simulator } = await useVideo('p1')
    expect(simulator.baseUrl).toBe(`http://127.0.0.1:${simulator.port}`)
    await expect(startP1Simulator({ port: simulator.port })).rejects.toThrow('EADDRINUSE')
  })

  it('ends idle connections when it closes', async () => {
    const simulator = await startP1Simulator()
    const socket = connect(simulator.port, '127.0.0.1').on('error', () => {})
    const ended = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('connect', resolve))
    await simulator.close()
    await ended
  })

  it.each(PROVIDERS)('of %s accepts only its key, and any bearer token without a key', async (provider) => {
    const keyed = await useVideo(provider, { apiKey: 'RIGHT' })
    expect((await keyed.submit('a cat')).status).toBe(401)
    const right = { authorization: 'Bearer RIGHT', 'x-provider-async': 'enable' }
    expect((await keyed.submit('a cat', right)).status).toBe(200)
    const open = await useVideo(provider)
    expect((await open.submit('a cat')).status).toBe(200)
    for (const authorization of ['', 'Bearer ', 'Basic key']) {
      expect((await open.call(`${open.task}a`, { headers: { authorization } })).status).toBe(401)
    }
  })

  it.each(PROVIDERS)('of %s responds to an unknown path with 404', async (provider) => {
    const { call, submitPath } = await useVideo(provider)
    expect((await call('/api/v9/other')).status).toBe(404)
    expect((await call(submitPath, { method: 'PUT' })).status).toBe(404)
  })

  it.each([
    ['p1', 20],
    ['p2', 40],
  ] as const)('of %s takes %i polls at once', async (provider, polls) => {
    const { poll } = await useVideo(provider)
    const responses = await Promise.all(Array.from({ length: 40 }, (_, index) => poll(String(index))))
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(40 - polls)
  })

  it('refuses polls above the rate and takes them again a moment later', async () => {
    const { poll, clock } = await useVideo('p1', { behaviour: { pollsPerSecond: 2 } })
    const statuses = [await poll('a'), await poll('b'), await poll('c')].map(({ status }) => status)
    clock.advanceSeconds(0.5)
    statuses.push((await poll('d')).status, (await poll('e')).status)
    expect(statuses).toEqual([200, 200, 429, 200, 429])
  })
})

describe('a state file', () => {
  function stateFile(): string {
    const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
    whenTestEnds(() => rmSync(folder, { recursive: true }))
    return join(folder, 'made-when-needed', 'tasks.jsonl')
  }

  it('keeps tasks across a restart, without a line that a crash has cut', async () => {
    const options = { stateFile: stateFile() }
    const before = await useVideo('p2', options)
    const removed = await before.begin('old')
    before.clock.advanceSeconds(4)
    const [failed, cancelled] = [await before.begin('[fail]'), await before.begin('cancelled')]
    for (const taskId of [removed, cancelled]) {
      await before.call(`${before.task}${taskId}`, { method: 'DELETE' })
    }
    await before.simulator.close()
    appendFileSync(options.stateFile, '{"kind":"added","task":{"id":"cut of')
    const after = await useVideo('p2', options)
    after.clock.advanceSeconds(8)
    const statuses = [removed, failed, cancelled].map(async (taskId) => after.statusOf(await after.poll(taskId)))
    expect(await Promise.all(statuses)).toEqual([undefined, 'failed', 'cancelled'])
    expect(readFileSync(options.stateFile, 'utf8')).not.toContain('cut of')
  })

  it.each(PROVIDERS)('lets %s serve a video after a restart', async (provider) => {
    const options = { stateFile: stateFile() }
    const before = await useVideo(provider, options)
    const taskId = await before.begin('a cat')
    await before.simulator.close()
    const { poll, clock, call, urlOf } = await useVideo(provider, options)
    clock.advanceSeconds(4)
    expect((await call(urlOf(await poll(taskId)))).status).toBe(200)
  })
})

describe('a magic prompt for the submit', () => {
  it('[hang] leaves the caller waiting until the server closes', async () => {
    const { simulator, submit } = await useVideo('p1')
    const hanging = expect(submit('[hang]')).rejects.toThrow('fetch failed')
    while (simulator.requests.length === 0) {
      await nextTurn()
    }
    await simulator.close()
    await hanging
  })

  it('[reset] resets the connection after the body was read', async () => {
    const { simulator, submit } = await useVideo('p1')
    await expect(submit('[reset]')).rejects.toThrow('fetch failed')
    expect(at(simulator.requests[0]?.body, 'input', 'prompt')).toBe('[reset]')
  })

  it('[late:SECONDS] delays the response', async () => {
    const { submit } = await useVideo('p1')
    const startedAt = performance.now()
    expect((await submit('[late:0.2]')).status).toBe(200)
    expect(performance.now() - startedAt).toBeGreaterThan(150)
  })

  it.each(PROVIDERS)('[busy] makes %s refuse the same prompt once', async (provider) => {
    const { submit } = await useVideo(provider)
    const responses = [await submit('[busy] a'), await submit('[busy] b'), await submit('[busy] a')]
    expect(responses.map(({ status }) => status)).toEqual([429, 429, 200])
  })

  it.each(['a cat', 'a [cat]', '[Image 1] opens [Image 2]', '[usage:many]', '[error:200]', '[slow:soon]'])(
    '%s is prose and succeeds',
    async (prompt) => {
      const { finish, statusOf } = await useVideo('p1')
      expect(statusOf(await finish(prompt))).toBe('SUCCEEDED')
    },
  )
})

describe('a magic prompt for the task', () => {
  it.each([
    ['[slow:100]', 100, 'RUNNING'],
    ['[slow:100]', 101, 'SUCCEEDED'],
    ['[queue:50]', 49, 'PENDING'],
    ['[queue:50]', 53, 'SUCCEEDED'],
    ['[forever]', 23 * 60 * 60, 'RUNNING'],
    ['[slow:60] [fail:input]', 60, 'RUNNING'],
    ['[slow:60] [fail:input]', 61, 'FAILED'],
  ])('%s makes P1 say after %i s that the task is %s', async (prompt, seconds, status) => {
    const { begin, poll, clock, statusOf } = await useVideo('p1')
    const taskId = await begin(prompt)
    clock.advanceSeconds(seconds)
    expect(statusOf(await poll(taskId))).toBe(status)
  })

  it.each([
    ['p1', 'WARMING_UP', 'SUCCEEDED', [200, 'UNKNOWN']],
    ['p2', 'warming_up', 'succeeded', [404, undefined]],
    ['p2-proxy', 'warming_up', 'succeeded', [404, undefined]],
  ] as const)('[odd-status], [poll-errors] and [unknown] spoil polls of %s', async (provider, odd, done, unknown) => {
    const { begin, poll, clock, statusOf } = await useVideo(provider)
    const ids = [await begin('[odd-status]'), await begin('[poll-errors]'), await begin('[unknown]')] as const
    clock.advanceSeconds(4)
    const seen = []
    for (let count = 0; count < 4; count += 1) {
      const [oddly, failed, never] = [await poll(ids[0]), await poll(ids[1]), await poll(ids[2])]
      seen.push([statusOf(oddly), failed.status, [never.status, statusOf(never)]])
      expect(oddly.text.includes('/results/')).toBe(count === 3)
    }
    expect(seen).toEqual([...Array(3).fill([odd, 500, unknown]), [done, 200, unknown]])
  })

  it.each([
    ['p1', '"duration":13.240,'],
    ['p2', '"completion_tokens":13.240,"total_tokens":13.240'],
    ['p2-proxy', '"completion_tokens":13.240,"total_tokens":13.240'],
  ] as const)('[usage:N] and [no-usage] set the usage of %s', async (provider, usage) => {
    const { finish } = await useVideo(provider)
    expect((await finish('[usage:13.240]')).text).toContain(usage)
    expect(at((await finish('[no-usage]')).body, 'usage')).toBeUndefined()
  })

  it.each(PROVIDERS)('[no-url] makes %s succeed without a url', async (provider) => {
    const { finish } = await useVideo(provider)
    const response = await finish('[no-url]')
    expect(response.text).toMatch(/succeeded/i)
    expect(response.text).not.toContain('/results/')
  })
})

describe('a result url', () => {
  async function useResult(prompt: string) {
    const { finish, urlOf, call, clock } = await useVideo('p1')
    const url = urlOf(await finish(prompt))
    return { url, clock, get: (options?: Parameters<typeof call>[1]) => call(url, options), call }
  }

  it('serves the whole clip with its length and type', async () => {
    const { url } = await useResult('a cat')
    const response = await fetch(url)
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(response.headers.get('content-type')).toBe('video/mp4')
    expect(Number(response.headers.get('content-length'))).toBe(bytes.length)
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp')
  })

  it('stays the same, and ends after a day', async () => {
    const { begin, poll, urlOf, clock, call } = await useVideo('p2')
    const taskId = await begin('a cat')
    clock.advanceSeconds(4)
    const url = urlOf(await poll(taskId))
    clock.advanceSeconds(24 * 60 * 60 - 2)
    expect(urlOf(await poll(taskId))).toBe(url)
    expect((await call(url)).status).toBe(200)
    clock.advanceSeconds(2)
    expect((await call(url)).status).toBe(403)
  })

  it('refuses a changed url and other methods', async () => {
    const { url, call } = await useResult('a cat')
    expect((await call(url.replace(/Expires=\d+/, 'Expires=9999999999'))).status).toBe(403)
    expect((await call(url, { method: 'DELETE' })).status).toBe(405)
    const head = await call(url, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
  })

  it.each([
    ['bytes=0-3', 206, 4],
    ['bytes=-10', 206, 10],
    ['bytes=100-', 206, undefined],
    ['bytes=99999999-', 416, 0],
    ['bytes=5-3', 416, 0],
    ['lines=1-2', 200, undefined],
  ])('responds to the range %s with %i', async (range, status, sizeBytes) => {
    const { url } = await useResult('a cat')
    const response = await fetch(url, { headers: { range } })
    const bytes = await response.arrayBuffer()
    expect([response.status, response.headers.has('content-range')]).toEqual([status, status !== 200])
    expect(bytes.byteLength).toBe(sizeBytes ?? bytes.byteLength)
  })

  it('[not-video] serves HTML as a video', async () => {
    const response = await (await useResult('[not-video]')).get()
    expect(response.headers.get('content-type')).toBe('video/mp4')
    expect(response.text).toContain('<!doctype html>')
  })

  it('[empty] serves no bytes', async () => {
    const response = await (await useResult('[empty]')).get()
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '0'])
  })

  it.each([
    ['[cut]', false],
    ['[cut:once]', true],
  ])('%s breaks off the first download, and serves the second: %j', async (prompt, isServed) => {
    const { get } = await useResult(prompt)
    await expect(get()).rejects.toThrow()
    const second = get().then(({ status }) => status)
    await (isServed ? expect(second).resolves.toBe(200) : expect(second).rejects.toThrow())
  })

  it('[redirect] leads to the file in one step', async () => {
    const { get, call } = await useResult('[redirect]')
    const first = await get()
    const second = await call(first.headers.get('location') ?? '')
    expect([first.status, second.status, second.headers.get('content-type')]).toEqual([302, 200, 'video/mp4'])
  })

  it('[redirect:private] leads to the metadata service', async () => {
    const { status, headers } = await (await useResult('[redirect:private]')).get()
    expect([status, headers.get('location')]).toEqual([302, 'http://169.254.169.254/latest/meta-data/'])
  })
})
