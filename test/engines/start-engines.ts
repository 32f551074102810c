import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { captureTelemetry } from './counted-facts.ts'
import { createPipeline, type Pipeline } from './create-pipeline.ts'
import { startResultServer } from './result-files.ts'
import { startTestBucket } from './start-test-bucket.ts'
import { startTestTable } from './start-test-table.ts'
import { testCatalogue } from './test-catalogue.ts'

type PipelineChanges = {
  readonly config?: Partial<GatewayConfig>
  readonly channels?: Parameters<typeof testCatalogue>[1]
  readonly credits?: string
}

/** Everything a test of the pipeline needs, once per test file; `pipeline` gives each test a table of its own. */
export async function startEngines(routes: Parameters<typeof startResultServer>[0] = {}) {
  const telemetry = captureTelemetry()
  const [tables, bucket, results] = await Promise.all([startTestTable(), startTestBucket(), startResultServer(routes)])
  const pipeline = async ({ config, channels, credits }: PipelineChanges = {}): Promise<Pipeline> => {
    const catalogue = testCatalogue({ trusted_origins: [results.origin], ...config }, channels)
    const options = { table: await tables.fresh(), bucket: bucket.bucket, catalogue }
    return await createPipeline(credits === undefined ? options : { ...options, credits })
  }
  const close = async () => {
    await Promise.all([tables.close(), bucket.close(), results.stop()])
  }
  return { ...telemetry, bucket, results, tables, pipeline, close }
}

export type Engines = Awaited<ReturnType<typeof startEngines>>
