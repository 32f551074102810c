import { describe, expect, it } from 'vitest'
import { readSourceFacts } from '../../scripts/source-facts.ts'

const ALIASES = { '#core/*': './lambdas/core/*' } as const

function factsOf(content: string) {
  return readSourceFacts('lib/admin/one.ts', content, ALIASES)
}

describe('source-facts: imports', () => {
  it('are the files that are needed at run time, by their paths from the root', () => {
    const { imports } = factsOf(`
      import { z } from 'zod'
      import { money } from '#core/money/money.ts'
      import './begin.ts'
      export { two } from '../two.ts'
      export * from './three.ts'
      const four = await import('./four.ts')
    `)
    expect(imports).toEqual([
      'lambdas/core/money/money.ts',
      'lib/admin/begin.ts',
      'lib/two.ts',
      'lib/admin/three.ts',
      'lib/admin/four.ts',
    ])
  })

  it('leave out files of which only types are imported', () => {
    const { imports } = factsOf(`
      import type { A } from './a.ts'
      import { type B } from './b.ts'
      export type { C } from './c.ts'
      import { type D, d } from './d.ts'
    `)
    expect(imports).toEqual(['lib/admin/d.ts'])
  })
})

describe('source-facts: behaviour', () => {
  it.each([
    'export function one() {}',
    'export const one = () => 1',
    'export const one = z.string().refine((value) => value.length > 1)',
    'export class One { two() { return 2 } }',
    'export class One { #two() { return 2 } }',
    'export class One extends Error { constructor(two) { super(two ? "2" : "1") } }',
  ])('is in %s', (content) => {
    expect(factsOf(content).holdsBehaviour).toBe(true)
  })

  it.each([
    'export type One = (two: string) => void',
    'export interface One { two(): void }',
    'export const ONE = 1_000 * 60',
    'export const one = z.object({ two: z.string() })',
    'export class OneError extends Error { override readonly name = "OneError" }',
    'export class OneError extends Error { constructor(readonly two: string) { super(two) } }',
    'export abstract class One { abstract two(): string }',
  ])('is not in %s', (content) => {
    expect(factsOf(content).holdsBehaviour).toBe(false)
  })
})

describe('source-facts: decisions', () => {
  it.each([
    'if (one) {}',
    'const two = one ? 1 : 2',
    'const two = one && three',
    'switch (one) {}',
    'for (const two of one) {}',
    'try {} catch {}',
  ])('are in %s', (content) => {
    expect(factsOf(content).holdsDecisions).toBe(true)
  })

  it('are not in a function that hands its input on', () => {
    const { holdsDecisions } = factsOf('export const handler = async (input) => await settle(input, context)')
    expect(holdsDecisions).toBe(false)
  })
})
