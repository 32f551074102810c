import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { parseCredits } from '#core/money.ts'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from '#local/aws-front.ts'
import { createTable, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { startS3Engine } from '#local/s3-engine.ts'
import { StepFunctionsEngine } from '#local/step-functions-engine.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { createAdminKey } from '#store/sessions/admin-keys.ts'
import { createDocumentClient, openTable } from '#store/table/sdk-table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { DeployedFunctions } from './deployed-functions.ts'
import { SampleJobs, TENANT_ID } from './sample-jobs.ts'
import { type CloudFrontKeys, startCloudFrontStub, startReceiver, startSecretsStub } from './stubs.ts'

const TABLE_NAME = 'reelgate'
const BUCKET_NAME = 'reelgate-videos'
const SAMPLE_KEY = 'sample-key'
const UPSTREAM_KEY = 'sample-upstream-key'
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const REGION = 'eu-west-1'
/** A simulated task takes an hour and time jumps by two, so that no task ends by itself while a test runs. */
const TASK_SECONDS = 3600
const JUMP_MILLISECONDS = 2 * TASK_SECONDS * 1000

export type SampleService = Awaited<ReturnType<typeof startSampleService>>

/**
 * All that a deployment has around its functions, on this machine: table, bucket, state machine, secrets, one upstream,
 * a tenant with the key of the sample events, and somebody who takes callbacks.
 */
export async function startSampleService() {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-events-'))
  const clock = { aheadMilliseconds: 0 }
  const engines = await startEngines(directory, clock)
  const definition = readDefinition()
  const invokeTask = (task: string, input: unknown) => functions.invoke(functions.taskFolders[task] ?? '', input)
  const machine = new StepFunctionsEngine({
    definition,
    tasks: tasksOf(definition, invokeTask),
    onBroken: () => undefined,
  })
  const awsFront = await startAwsFront(machine, CREDENTIALS)
  const config = sampleConfig(engines)
  const functions = new DeployedFunctions(config, localValues(engines, `http://127.0.0.1:${awsFront.port}`))
  const { receiver, secrets, cloudFrontKeys } = engines
  return {
    functions,
    machine,
    receiver,
    secrets,
    cloudFrontKeys,
    ...(await openStores(engines, { config, clock })),
    async close() {
      await machine.close()
      await functions.settled()
      await awsFront.close()
      await engines.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

type Clock = { aheadMilliseconds: number }
type Engines = Awaited<ReturnType<typeof startEngines>>

async function startEngines(directory: string, clock: Clock) {
  const { PATH } = process.env
  const secrets = new Map([
    ['channel-secret', JSON.stringify({ P1_API_KEY: UPSTREAM_KEY, RELAY_API_KEY: UPSTREAM_KEY })],
    ['front-door-secret', JSON.stringify({ current: 'sample-front-door' })],
    ['signing-key-secret', JSON.stringify({ keys: [createSigningKey()] })],
  ])
  const cloudFrontKeys: CloudFrontKeys = { publicKeys: new Map(), keyGroups: new Map() }
  const [dynamoDb, s3, secretsStub, cloudFront, receiver, upstream, relayUpstream] = await Promise.all([
    startDynamoDbEngine(join(directory, 'table.sqlite'), { PATH }),
    startS3Engine({ directory: join(directory, 'bucket'), bucketName: BUCKET_NAME, credentials: CREDENTIALS }, {}),
    startSecretsStub(secrets),
    startCloudFrontStub(cloudFrontKeys),
    startReceiver(),
    startP1Simulator({
      apiKey: UPSTREAM_KEY,
      behaviour: { queueSeconds: 0, runSeconds: TASK_SECONDS },
      now: () => Date.now() + clock.aheadMilliseconds,
    }),
    startOpenAiSimulator({ apiKey: UPSTREAM_KEY, gapMilliseconds: 1 }),
  ])
  const close = async () => {
    const parts = [secretsStub, cloudFront, receiver, upstream, relayUpstream, s3, dynamoDb]
    await Promise.all(parts.map((part) => part.close()))
  }
  return { dynamoDb, s3, secrets, cloudFrontKeys, secretsStub, cloudFront, receiver, upstream, relayUpstream, close }
}

/** What the deployed names and ARNs are here. */
function localValues({ dynamoDb, s3, secretsStub, cloudFront }: Engines, awsUrl: string): Record<string, string> {
  return {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_SESSION_TOKEN: 'sample-session',
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    AWS_ENDPOINT_URL_SFN: awsUrl,
    AWS_ENDPOINT_URL_CLOUDFRONT: `http://127.0.0.1:${cloudFront.port}`,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${secretsStub.port}`,
    TABLE_NAME,
    BUCKET_NAME,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
    // A stage without alarms has no topic.
    ALERT_TOPIC_ARN: '',
    CDN_BASE_URL: 'https://videos.example.com',
    CDN_KEY_GROUP_NAME: 'Reelgate-dev-video-urls-eu-west-1',
    CDN_SIGNING_KEY_SECRET_ARN: 'signing-key-secret',
    CHANNEL_SECRET_ARN: 'channel-secret',
    FRONT_DOOR_SECRET_ARN: 'front-door-secret',
    CONSOLE_ORIGIN: 'https://console.example.com',
  }
}

type Definition = { readonly States: Readonly<Record<string, { readonly Type: string; readonly Resource?: string }>> }

/** One task for each state of the definition, run by the function that the stack fills in for its `${Name}`. */
function tasksOf({ States }: Definition, invokeTask: (task: string, input: unknown) => Promise<unknown>) {
  const tasks = Object.entries(States).filter(([, { Type }]) => Type === 'Task')
  return Object.fromEntries(
    tasks.map(([state, { Resource = '' }]) => [state, (input: unknown) => invokeTask(Resource.slice(2, -1), input)]),
  )
}

async function openStores({ dynamoDb, s3 }: Engines, { config, clock }: { config: GatewayConfig; clock: Clock }) {
  const options = { region: REGION, credentials: CREDENTIALS }
  const dynamoDbClient = new DynamoDBClient({ ...options, endpoint: dynamoDb.endpoint })
  const bucket = new S3Client({ ...options, endpoint: s3.endpoint, forcePathStyle: true })
  const table = openTable({ client: createDocumentClient(dynamoDbClient), name: TABLE_NAME })
  await createTable(TABLE_NAME, dynamoDbClient)
  await makeTenant(table, { id: TENANT_ID, name: 'Demo', credits: parseCredits('100') }, TESTER)
  await storeApiKey(table, { key: SAMPLE_KEY, tenantId: TENANT_ID, models: null }, TESTER)
  const passTime = () => {
    clock.aheadMilliseconds += JUMP_MILLISECONDS
  }
  return {
    jobs: new SampleJobs({ table, config, keyDigest: sha256Hex(SAMPLE_KEY), upstreamKey: UPSTREAM_KEY, passTime }),
    makeAdminKey: async () => (await createAdminKey(table, { name: 'ada', role: 'owner' }, TESTER)).key,
    putVideo: (Key: string) => bucket.send(new PutObjectCommand({ Bucket: BUCKET_NAME, Key, Body: 'video' })),
    headObject: (Key: string) => bucket.send(new HeadObjectCommand({ Bucket: BUCKET_NAME, Key })),
  }
}

function readDefinition() {
  return JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'lambdas', 'pipeline', 'video-job.asl.json'), 'utf8'))
}

function sampleConfig({ upstream, relayUpstream, receiver }: Engines): GatewayConfig {
  const environment = { P1_BASE_URL: upstream.baseUrl, RELAY_BASE_URL: relayUpstream.baseUrl }
  const file = join(REPOSITORY_ROOT, 'config', 'gateway.yaml')
  const { config } = loadGatewayConfig({ file, environment, mode: 'synth' })
  return { ...config, trusted_origins: [upstream.baseUrl], callback_allowlist: [receiver.origin] }
}

function createSigningKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { keyPairId: 'K1SAMPLE', privateKeyPem, createdAt: 0 }
}
