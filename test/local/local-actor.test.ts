import { hostname, userInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { localActor } from '#local/local-actor.ts'

describe('local-actor', () => {
  it('is the user and the machine, as an operator', () => {
    expect(localActor()).toEqual({ name: `${userInfo().username}@${hostname()}`, role: 'operator' })
  })
})
