import { readFileSync } from 'node:fs'
import * as z from 'zod'

const exchanges = z.object({
  upstream_exchanges: z.array(z.object({ request: z.record(z.string(), z.unknown()), response: z.unknown() })),
})

/** The chat calls and answers of the recorded legacy completion with several prompts, in order of the prompts. */
export function mapExchanges() {
  const file = new URL('../../fixtures/upstream/oai_completions_map.json', import.meta.url)
  return exchanges.parse(JSON.parse(readFileSync(file, 'utf8'))).upstream_exchanges
}
