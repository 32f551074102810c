import { describe, expect, it } from 'vitest'
import { parseMagicPrompt } from '../../../lib/simulators/shared/magic-prompt.ts'
import { textToVideo, withP1 } from '../p1/p1-client.ts'
import { at, call } from './simulator-client.ts'

const urlOf = (body: unknown) => String(at(body, 'output', 'video_url'))

describe('a prompt without commands', () => {
  it.each(['a cat', 'a [cat]', '[Image 1] opens [Image 2]', '[usage:many]', '[error:200]', '[slow:soon]'])(
    '%s succeeds',
    (prompt) => {
      expect(parseMagicPrompt(prompt)).toEqual({ ending: 'succeed', isMinimal: false })
    },
  )
})

describe('a submit that is never answered properly', () => {
  it('[hang] leaves the caller waiting until the server closes', async () => {
    let hanging: Promise<unknown> = Promise.resolve()
    await withP1({}, async ({ submit, simulator }) => {
      hanging = submit(textToVideo('[hang]')).catch((error: unknown) => error)
      while (simulator.requests.length === 0) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    expect(String(await hanging)).toContain('fetch failed')
  })

  it('[reset] cuts the connection after the body was read', async () => {
    await withP1({}, async ({ submit, simulator }) => {
      await expect(submit(textToVideo('[reset]'))).rejects.toThrow('fetch failed')
      expect(at(simulator.requests[0]?.body, 'input', 'prompt')).toBe('[reset]')
    })
  })

  it('[late:SECONDS] is accepted at once and answered later', async () => {
    await withP1({ behaviour: { queueSeconds: 0, runSeconds: 0 } }, async ({ submit, simulator }) => {
      const pending = submit(textToVideo('[late:0.2]'))
      const before = performance.now()
      expect((await pending).status).toBe(200)
      expect(performance.now() - before).toBeGreaterThan(150)
      expect(simulator.requests).toHaveLength(1)
    })
  })
})

describe('the length of a task', () => {
  it('[slow:SECONDS] runs as long as it says', async () => {
    await withP1({}, async ({ start, poll, clock }) => {
      const taskId = await start('[slow:100]')
      clock.advanceSeconds(100)
      expect(at((await poll(taskId)).body, 'output', 'task_status')).toBe('RUNNING')
      clock.advanceSeconds(1)
      expect(at((await poll(taskId)).body, 'output', 'task_status')).toBe('SUCCEEDED')
    })
  })

  it('[forever] never ends', async () => {
    await withP1({}, async ({ start, poll, clock }) => {
      const taskId = await start('[forever]')
      clock.advanceSeconds(23 * 60 * 60)
      expect(at((await poll(taskId)).body, 'output', 'task_status')).toBe('RUNNING')
    })
  })
})

describe('polls', () => {
  it('[unknown] is unknown to every poll', async () => {
    await withP1({}, async ({ finish }) => {
      expect(at((await finish('[unknown]')).body, 'output', 'task_status')).toBe('UNKNOWN')
    })
  })

  it('[odd-status] says an unlisted word three times', async () => {
    await withP1({}, async ({ start, poll, clock }) => {
      const taskId = await start('[odd-status]')
      clock.advanceSeconds(4)
      const words = []
      for (let count = 0; count < 4; count += 1) {
        words.push(at((await poll(taskId)).body, 'output', 'task_status'))
      }
      expect(words).toEqual(['WARMING_UP', 'WARMING_UP', 'WARMING_UP', 'SUCCEEDED'])
    })
  })

  it('[poll-errors] answers 500 three times', async () => {
    await withP1({}, async ({ start, poll }) => {
      const taskId = await start('[poll-errors]')
      const statuses = []
      for (let count = 0; count < 4; count += 1) {
        statuses.push((await poll(taskId)).status)
      }
      expect(statuses).toEqual([500, 500, 500, 200])
    })
  })

  it('[no-usage] leaves usage out', async () => {
    await withP1({}, async ({ finish }) => {
      expect(at((await finish('[no-usage]')).body, 'usage')).toBeUndefined()
    })
  })

  it('[usage:N] is reported as it was written', async () => {
    await withP1({}, async ({ finish }) => {
      expect((await finish('[usage:13.240]')).text).toContain('"duration":13.240,')
    })
  })

  it('several commands work together', async () => {
    await withP1({}, async ({ start, poll, clock }) => {
      const taskId = await start('[slow:60] [fail:input]')
      clock.advanceSeconds(60)
      expect(at((await poll(taskId)).body, 'output', 'task_status')).toBe('RUNNING')
      clock.advanceSeconds(1)
      expect(at((await poll(taskId)).body, 'output', 'code')).toBe('InvalidParameter')
    })
  })
})

describe('results', () => {
  it('[no-url] succeeds without a url', async () => {
    await withP1({}, async ({ finish }) => {
      const answer = await finish('[no-url]')
      expect(at(answer.body, 'output', 'task_status')).toBe('SUCCEEDED')
      expect(at(answer.body, 'output', 'video_url')).toBeUndefined()
    })
  })

  it('[not-video] is HTML under the name of a video', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const answer = await call(simulator, urlOf((await finish('[not-video]')).body))
      expect(answer.headers.get('content-type')).toBe('video/mp4')
      expect(answer.text).toContain('<!doctype html>')
    })
  })

  it('[empty] has no bytes', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const answer = await call(simulator, urlOf((await finish('[empty]')).body))
      expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '0'])
    })
  })

  it('[cut] breaks off every time, [cut:once] only the first time', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const cut = urlOf((await finish('[cut]')).body)
      await expect(call(simulator, cut)).rejects.toThrow()
      await expect(call(simulator, cut)).rejects.toThrow()
      const once = urlOf((await finish('[cut:once]')).body)
      await expect(call(simulator, once)).rejects.toThrow()
      expect((await call(simulator, once)).status).toBe(200)
    })
  })

  it('[redirect] leads to the real file in one step', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const first = await call(simulator, urlOf((await finish('[redirect]')).body))
      expect(first.status).toBe(302)
      const second = await call(simulator, first.headers.get('location') ?? '')
      expect([second.status, second.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    })
  })

  it('[redirect:private] leads to an address that must not be asked', async () => {
    await withP1({}, async ({ finish, simulator }) => {
      const answer = await call(simulator, urlOf((await finish('[redirect:private]')).body))
      expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://169.254.169.254/latest/meta-data/'])
    })
  })
})
