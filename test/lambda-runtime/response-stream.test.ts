import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { expectedRun, factsIn, STREAM_PROBES } from '../engines/stream-probes.ts'
import { hasNativePart, startFunction } from './start-function.ts'

const PROBES = pathToFileURL(join(import.meta.dirname, '..', 'engines', 'stream-probes.ts')).href

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-probes-'))
  const code = `import { runProbe } from '${PROBES}'\nexport const handler = awslambda.streamifyResponse(runProbe)\n`
  writeFileSync(join(directory, 'index.mjs'), code)
})
afterAll(() => rmSync(directory, { recursive: true }))

describe(`the response stream of Lambda’s runtime client, ${hasNativePart ? 'compiled' : 'without its native part'},`, () => {
  it.each(Object.entries(STREAM_PROBES))('%s', async (name, probe) => {
    const target = await startFunction({ directory, entry: 'handler' })
    try {
      const { raw, failure, endsProcess } = await target.invoke(
        { probe: name },
        { read: (_bytes, connection) => (probe.isBroken ? connection.break() : undefined) },
      )
      const seen = { facts: factsIn(target.output()), received: raw.toString('latin1'), failure, endsProcess }
      expect(seen).toEqual(expectedRun(probe))
    } finally {
      await target.close()
    }
  })
})
