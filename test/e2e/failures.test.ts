import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { runSmoke } from '../../lib/cli/smoke/smoke.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually, startReceiver } from './video-client.ts'

/** What a client reads of a job that cannot succeed; its reservation is always released. */
const FAILURES = [
  ['a refused prompt', '[refuse:moderated] x', 'Input data may contain inappropriate content.'],
  ['a failed generation', '[fail] x', /.+/],
  ['a moderated result', '[moderated] x', 'Output data may contain inappropriate content.'],
  ['a success without a url', '[no-url] x', 'upstream result is not a video'],
  ['a result that is HTML', '[not-video] x', 'upstream result is not a video'],
  ['an empty result', '[empty] x', 'upstream result is not a video'],
  ['a redirect to a private address', '[redirect:private] x', 'result could not be stored'],
  ['an account in arrears, with no other channel', '[arrears] x', 'no upstream capacity'],
  ['a submit whose connection is cut', '[reset] x', 'submit outcome unknown'],
  ['a submit that answers 500', '[error:500] x', 'submit outcome unknown'],
] as const

const SUCCESSES = [
  ['polls that answer 500 three times', '[poll-errors] x', '0.7'],
  ['a status word that nobody knows', '[odd-status] x', '0.7'],
  ['a redirected result', '[redirect] x', '0.7'],
  ['a download that breaks off once', '[cut:once] x', '0.7'],
  ['a busy upstream', '[busy] only once', '0.7'],
  ['no usage: the length of the file counts', '[no-usage] x', '0.7'],
  ['a usage that cannot be: the length of the file counts', '[usage:-5] x', '0.7'],
  ['more usage than was reserved: the formula is billed', '[usage:6] x', '0.84'],
] as const

describe('upstream faults, over HTTP', () => {
  let gateway: Gateway
  let receiver: Awaited<ReturnType<typeof startReceiver>>

  beforeAll(async () => {
    receiver = await startReceiver(500)
    gateway = await startGateway({ callbackOrigins: [receiver.origin] })
  })

  afterAll(async () => {
    await gateway.stop()
    await receiver.close()
  })

  const finish = async (prompt: string) => {
    const body = { model: 'famB-1.1-t2v', prompt, callback_url: `${receiver.origin}/cb` }
    const created = await gateway.api.create(body)
    expect(created).toMatchObject({ status: 201, json: { status: 'queued' } })
    return await gateway.api.until(String(created.json.id), 'succeeded', 'failed')
  }

  const resolutionOf = async (id: unknown) => {
    const answer = await gateway.admin('ledger', '--tenant', 'demo', '--limit', '1000')
    const rows: { kind: string; job: string; actual: string | null }[] = Object(answer).entries
    return rows
      .filter(({ job, kind }) => job === id && kind !== 'reserve')
      .map(({ kind, actual }) => ({ kind, actual }))
  }

  it.concurrent.each(FAILURES)(
    '%s fails the job, releases its reservation and causes one callback',
    async (_, prompt, error) => {
      const job = await finish(prompt)
      expect(job).toMatchObject({
        status: 'failed',
        error: typeof error === 'string' ? error : expect.stringMatching(error),
      })
      expect(job).not.toHaveProperty('url')
      expect(await resolutionOf(job.id)).toEqual([{ kind: 'release', actual: null }])
      const bodies = async () => receiver.received.filter(({ body }) => body.includes(String(job.id)))
      const [callback] = await eventually(bodies, (found) => found.length > 0)
      expect(JSON.parse(callback?.body ?? '')).toEqual({ id: job.id, status: 'failed', error: job.error })
      expect(await bodies()).toHaveLength(1)
    },
  )

  it.concurrent('a job and a chat without any fault pass every step of the smoke test', async () => {
    const seen: string[] = []
    const observer = { announce: () => {}, progress: (status: string) => void seen.push(status), end: () => {} }
    const options = { baseUrl: gateway.url, apiKey: 'e2e-key', skipVideo: false, skipChat: false, timeoutSeconds: 60 }
    const { ok, steps } = await runSmoke({ ...options, pollMilliseconds: 250 }, observer)
    expect(steps.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
    expect({ ok, steps: steps.length, last: seen.at(-1) }).toEqual({ ok: true, steps: 8, last: 'succeeded' })
    expect(JSON.stringify(steps)).not.toMatch(/e2e-key|Signature/)
  })

  it.concurrent.each(SUCCESSES)('%s does not affect the result or the bill', async (_, prompt, actual) => {
    const job = await finish(prompt)
    expect(job).toMatchObject({ status: 'succeeded', duration_secs: 5 })
    expect(await resolutionOf(job.id)).toEqual([{ kind: 'settle', actual }])
  })

  it('breaks no invariant of the ledger', async () => {
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
  })
})
