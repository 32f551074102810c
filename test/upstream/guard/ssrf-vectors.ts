import { readFileSync } from 'node:fs'
import * as z from 'zod'

const vectorSchema = z.object({
  id: z.string(),
  url: z.string(),
  allow: z.boolean(),
  why: z.string(),
  stage: z.enum(['url', 'connect', 'redirect']),
  dns: z.union([z.array(z.string()), z.array(z.array(z.string()))]).default([]),
  status: z.number().default(0),
  location: z.string().default(''),
})

type SsrfVector = z.infer<typeof vectorSchema>

const file = readFileSync(new URL('../../vectors/ssrf.json', import.meta.url), 'utf8')
const vectors = z.array(vectorSchema).parse(JSON.parse(file))

/** The allowlist that the vectors are written for. */
export const VECTOR_ALLOWLIST = ['hooks.example.com', '*.partner.example']

/** The vectors of one stage: the url by itself, what its name resolves to, what its host answers. */
export function vectorsOf(stage: SsrfVector['stage']): SsrfVector[] {
  return vectors.filter((vector) => vector.stage === stage)
}

/** What successive look-ups of the name answer; more than one where the answer changes. */
export function lookUpAnswers({ dns }: Pick<SsrfVector, 'dns'>): string[][] {
  const texts = dns.filter((answer) => typeof answer === 'string')
  const lists = dns.filter((answer) => typeof answer !== 'string')
  return lists.length === 0 ? [texts] : lists
}
