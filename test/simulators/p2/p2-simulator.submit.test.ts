import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'
import { P2_TASKS_PATH, p2Body, withP2 } from './p2-client.ts'

const fixtures = readFixtures('p2')
const bodyOf = (name: string) => fixtures.get(name)?.body
const words = (body: unknown) => String(at(body, 'error', 'message')).replace(/ Request id: \w+$/, '')

describe('P2 submit', () => {
  it.each([
    'submit_t2v',
    'submit_i2v_first_frame',
    'submit_first_last',
    'submit_multimodal',
    'submit_legacy_flags',
    'p2i_submit_t2v',
  ])('accepts the request of %s and answers with an id alone', async (name) => {
    await withP2({}, async ({ submit }) => {
      const answer = await submit(fixtures.get(name)?.request)
      expect(answer.status).toBe(200)
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
      expect(at(answer.body, 'id')).toMatch(/^cgt-20260420175517-[a-z0-9]{5}$/)
    })
  })

  it.each([
    ['[refuse:moderated]', 'err_400_text_sensitive'],
    ['[refuse:download]', 'err_400_download'],
    ['[refuse:person]', 'err_400_real_person'],
    ['[unauthorized]', 'err_401'],
    ['[arrears]', 'err_403_overdue'],
    ['[no-model]', 'err_404_model'],
    ['[not-open]', 'err_404_not_open'],
    ['[busy:always]', 'err_429_rpm'],
    ['[busy:quota]', 'err_429_setlimit'],
    ['[busy:overloaded]', 'err_429_overloaded'],
    ['[error:500]', 'err_500'],
  ])('refuses %s as %s', async (prompt, name) => {
    await withP2({}, async ({ submit }) => {
      const answer = await submit(p2Body(prompt))
      expect(answer.status).toBe(fixtures.get(name)?.status)
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
      for (const member of ['code', 'type', 'param']) {
        expect(at(answer.body, 'error', member)).toEqual(at(bodyOf(name), 'error', member))
      }
    })
  })

  it('refuses [refuse] with 400, [error:503] with 503 and an unknown path with 404', async () => {
    await withP2({}, async ({ submit, simulator }) => {
      expect((await submit(p2Body('[refuse]'))).status).toBe(400)
      expect((await submit(p2Body('[error:503]'))).status).toBe(503)
      expect((await submit(p2Body('[error:413]'))).status).toBe(413)
      expect((await call(simulator, '/api/v3/other')).status).toBe(404)
      expect((await call(simulator, P2_TASKS_PATH, { method: 'PUT' })).status).toBe(404)
    })
  })

  it('takes only the key it was given', async () => {
    await withP2({ apiKey: 'RIGHT' }, async ({ submit }) => {
      const answer = await submit(p2Body('a cat'))
      expect([answer.status, words(answer.body)]).toEqual([401, words(bodyOf('err_401'))])
    })
  })
})
