import { describe, expect, it } from 'vitest'
import { hiddenMembers } from '#core/catalogue/hidden-members.ts'

describe('hidden_members', () => {
  it('hides what upstreams say of who served a request and for whom, if nothing is configured', () => {
    expect(hiddenMembers.parse(undefined)).toStrictEqual(['usage.is_byok', 'provider', 'user_id'])
  })

  it('takes any path of names, and none at all', () => {
    const paths = ['error.metadata', 'system_fingerprint', 'x-groq.usage.queue_time']
    expect(hiddenMembers.parse(paths)).toStrictEqual(paths)
    expect(hiddenMembers.parse([])).toStrictEqual([])
  })

  it.each(['', '.usage', 'usage.', 'usage..cost', 'usage[0]', 'a b', 1])('refuses %p', (path) => {
    expect(hiddenMembers.safeParse([path]).success).toBe(false)
  })

  it.each(['model', 'choices', 'data', 'choices.message'])('refuses %s, without which a response is none', (path) => {
    expect(hiddenMembers.safeParse([path]).error?.issues).toMatchObject([
      { path: [0], message: 'a response needs model, choices and data; leave this out' },
    ])
  })
})
