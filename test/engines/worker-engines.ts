import { type DynamoDbEngine, startDynamoDbEngine } from '#local/dynamodb-engine.ts'

/** The endpoints of the engines of a run; its workers inherit it. */
const ENDPOINTS_VARIABLE = 'REELGATE_TEST_ENGINES'
const engines: DynamoDbEngine[] = []

/** An engine on memory. Endpoints of the environment are not used. */
export const startEngineOfTests = () => startDynamoDbEngine(':memory:', { PATH: process.env.PATH })

/** Before all tests: an engine for each worker, because a start costs more than most of the tests on it. */
export async function beginEngines(workers: number): Promise<void> {
  engines.push(...(await Promise.all(Array.from({ length: workers }, startEngineOfTests))))
  process.env[ENDPOINTS_VARIABLE] = engines.map(({ endpoint }) => endpoint).join(' ')
}

/** After all tests. */
export async function endEngines(): Promise<void> {
  await Promise.all(engines.splice(0).map((engine) => engine.close()))
}

/** Where the engine of this worker listens; undefined in a program that is no worker. */
export function workerEndpoint(): string | undefined {
  const endpoints = process.env[ENDPOINTS_VARIABLE]?.split(' ') ?? []
  return endpoints[Number(process.env.JEST_WORKER_ID) - 1]
}
