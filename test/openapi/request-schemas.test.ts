import { describe, expect, it } from '@jest/globals'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { committedSchema } from './documented-answer.ts'
import { ACCEPTED, BODIES, type BodyKind, REFUSED } from './request-bodies.ts'

function judgements(kind: BodyKind, members: object): { parser: boolean; document: boolean } {
  const { schema, least, parse } = BODIES[kind]
  // As it arrives: a member that is undefined is not there.
  const body: unknown = JSON.parse(JSON.stringify({ ...least, ...members }))
  return { parser: isAccepted(() => parse(body)), document: committedSchema(schema).safeParse(body).success }
}

function isAccepted(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}

const shown = ([kind, members]: readonly [BodyKind, object]) =>
  [kind, JSON.stringify(members).slice(0, 100), members] as const

describe('the documented schema of a request', () => {
  it.each(ACCEPTED.map(shown))('takes what the gateway takes: %s with %s', (kind, _, members) => {
    expect(judgements(kind, members)).toEqual({ parser: true, document: true })
  })

  it.each(REFUSED.map(shown))('refuses what the gateway refuses: %s with %s', (kind, _, members) => {
    expect(judgements(kind, members)).toEqual({ parser: false, document: false })
  })
  it('is tried for the body of every operation', () => {
    const bodies = new Set(ROUTES.flatMap(({ input }: Route) => (input === undefined ? [] : [input])))
    for (const rows of [ACCEPTED, REFUSED]) {
      expect(new Set(rows.map(([kind]): string => BODIES[kind].schema))).toEqual(bodies)
    }
  })
})
