import type { LookupAddress } from 'node:dns'
import dns from 'node:dns'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { Places } from '#platform/concurrency.ts'
import { createHttpClient } from '#platform/http/http-client.ts'
import { sendGuardedRequest } from '#upstream/guard/guarded-request.ts'
import { type Loopback, listenHttp } from '../../platform/http/loopback.ts'

/** Look-ups that libuv runs at once: half of its four threads. */
const LOOKUP_THREADS = 2

const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 }

let upstream: Loopback
beforeEach(async () => {
  upstream = await listenHttp((_request, response) => response.end('{}'))
  // The machine's resolver: it knows `localhost`, and it never answers for any other name.
  const threads = new Places(LOOKUP_THREADS)
  const lookUp = async (hostname: string) => {
    const giveBack = await threads.take()
    await (hostname === 'localhost' ? undefined : new Promise(() => {}))
    giveBack()
    return [LOOPBACK]
  }
  jest.spyOn(dns.promises, 'lookup').mockImplementation(lookUp as never)
  jest.spyOn(dns, 'lookup').mockImplementation(((hostname: string, _options: object, callback: Callback) => {
    void lookUp(hostname).then((addresses) => callback(null, addresses))
  }) as never)
  const denied = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  jest.spyOn(dns.promises.Resolver.prototype, 'resolve4').mockRejectedValue(denied)
  jest.spyOn(dns.promises.Resolver.prototype, 'resolve6').mockRejectedValue(denied)
})
afterEach(async () => {
  jest.restoreAllMocks()
  await upstream.stop()
})

type Callback = (error: null, addresses: readonly LookupAddress[]) => void

const get = (url: string, isTrustedOrigin: boolean, signal?: AbortSignal) =>
  sendGuardedRequest({
    url: new URL(url),
    method: 'GET',
    headers: {},
    isTrustedOrigin,
    replyMilliseconds: 5_000,
    signal,
  }).catch((error: Error) => error.message)

async function chat(): Promise<string> {
  const client = createHttpClient()
  const timeouts = { connectMilliseconds: 3_000, firstByteMilliseconds: 3_000 }
  const url = `http://localhost:${upstream.port}/v1/chat/completions`
  const outcome = await client.send({ url, method: 'POST', headers: {}, body: '{}', timeouts })
  client.close()
  return outcome.kind
}

describe('names that name servers deny and the machine’s resolver never answers', () => {
  it('of tenants fail at once, and hold up neither a chat to an upstream of the hosts file nor an origin of the operator', async () => {
    const references = Array.from({ length: 50 }, (_, index) => get(`https://hangs-${index}.example/a.png`, false))
    await nextTurn()
    const operators = get(`http://localhost:${upstream.port}/`, true)
    expect(await chat()).toBe('response')
    expect(await operators).toMatchObject({ status: 200 })
    expect(new Set(await Promise.all(references))).toEqual(new Set(['the network said ENOTFOUND']))
  })

  it('of origins that the operator trusts leave a thread to a chat', async () => {
    const over = new AbortController()
    const downloads = Array.from({ length: 5 }, () => get('http://storage:9000/a.png', true, over.signal))
    await nextTurn()
    expect(await chat()).toBe('response')
    over.abort()
    await Promise.all(downloads)
  })
})
