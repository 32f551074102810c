import { isJsonObject } from '#core/json/parse-json-text.ts'
import { ProgressBar } from '../terminal.ts'
import { GatewayClient, SmokeFailure } from './gateway-client.ts'
import {
  chatStreamed,
  chatWhole,
  checkPassthrough,
  createJob,
  downloadVideo,
  findInList,
  type SmokeObserver,
  type StepResult,
  StepRunner,
  type StepVerdict,
  waitForJob,
} from './steps.ts'

/** The deployment to test, the key, the models and the limits. */
export type SmokeOptions = {
  /** Without a final slash and without `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The video model. The default is the cheapest text-to-video model of the shipped catalogue. */
  readonly model?: string | undefined
  readonly chatModel?: string | undefined
  readonly skipChat: boolean
  readonly skipVideo: boolean
  /** For the whole test. */
  readonly timeoutSeconds: number
  /** Between two polls of the job. */
  readonly pollMilliseconds: number
}

/** The verdicts in the order of the steps. `ok` means that every step passed; a skipped step has not passed. */
export type SmokeReport = { readonly ok: boolean; readonly steps: readonly StepVerdict[] }

/** Models of the shipped catalogue. */
const VIDEO_MODEL = 'famB-1.1-t2v'
const CHAT_MODEL = 'chat-default'

/**
 * Tests any deployment through the HTTP contract: creates a video job from text, polls it, downloads and lists the video, and
 * sends a chat request with and without streaming. Failures become verdicts, never exceptions.
 */
export async function runSmoke(options: SmokeOptions, observer: SmokeObserver): Promise<SmokeReport> {
  const { baseUrl, apiKey, skipChat, skipVideo, timeoutSeconds } = options
  const client = new GatewayClient({ baseUrl, apiKey, signal: AbortSignal.timeout(timeoutSeconds * 1000) })
  const runner = new StepRunner(observer, apiKey)
  const models = await runner.step('models', () => listModels(client))
  if (models !== undefined) {
    observer.announce(priceOf(options))
  }
  if (!skipVideo) {
    await runVideo({ client, runner, models, options, observer })
  }
  if (!skipChat) {
    const wanted = { models, kind: 'chat', model: options.chatModel ?? CHAT_MODEL, option: '--chat-model' } as const
    await runner.step('chat', models && (() => chatWhole(client, pickModel(wanted))))
    await runner.step('chat stream', models && (() => chatStreamed(client, pickModel(wanted))))
  }
  return { ok: runner.steps.every(({ verdict }) => verdict === 'passed'), steps: runner.steps }
}

function priceOf({ model = VIDEO_MODEL, chatModel = CHAT_MODEL, skipChat, skipVideo }: SmokeOptions): string {
  const videos = skipVideo ? [] : [`one video with ${model}`]
  const chats = skipChat ? [] : [`two short chat responses with ${chatModel}`]
  return `This makes ${[...videos, ...chats].join(' and ')}: the key's tenant pays credits, and real upstreams charge for them.`
}

type Surroundings = {
  readonly client: GatewayClient
  readonly runner: StepRunner
  readonly models: readonly ListedModel[] | undefined
  readonly options: SmokeOptions
  readonly observer: SmokeObserver
}

async function runVideo({ client, runner, models, options, observer }: Surroundings): Promise<void> {
  const wanted = { models, kind: 'video', model: options.model ?? VIDEO_MODEL, option: '--model' } as const
  const id = await runner.step('create', models && (async () => await createJob(client, pickModel(wanted))))
  const waiting = { pollMilliseconds: options.pollMilliseconds, onStatus: observer.progress }
  const job = await runner.step('wait', id === undefined ? undefined : () => waitForJob(client, id, waiting))
  await runner.step('passthrough', job && (() => checkPassthrough(job)))
  await runner.step('download', job && (() => downloadVideo(client, job)))
  await runner.step('list', id === undefined ? undefined : () => findInList(client, id))
}

/** A model of the list. Deployments of other versions may not show its kind. */
type ListedModel = { readonly id: string; readonly kind: unknown }

async function listModels(client: GatewayClient): Promise<StepResult<readonly ListedModel[]>> {
  const { data } = await client.json('/v1/models', { status: 200 })
  const models = (Array.isArray(data) ? data : [])
    .filter(isJsonObject)
    .map(({ id, kind }) => ({ id: String(id), kind }))
  if (models.length === 0) {
    throw new SmokeFailure('the key cannot use any model', 'the models of the key, and the catalogue of the deployment')
  }
  return { value: models, text: `the key can use ${models.length}` }
}

type Wanted = {
  readonly models: readonly ListedModel[] | undefined
  readonly kind: 'chat' | 'video'
  readonly model: string
  readonly option: string
}

/** @throws SmokeFailure if the model is not listed for this key, or is of another kind. */
function pickModel({ models = [], kind, model, option }: Wanted): string {
  const fitting = models.filter((each) => (each.kind ?? kind) === kind).map(({ id }) => id)
  if (fitting.includes(model)) {
    return model
  }
  const other = models.find(({ id }) => id === model)
  throw new SmokeFailure(
    other === undefined ? `the key cannot use ${model}` : `${model} is of the kind ${String(other.kind)}, not ${kind}`,
    fitting.length === 0
      ? `the key can use no ${kind} model: leave this part out with --skip-${kind}`
      : `choose a listed model with ${option} (or --skip-${kind}): ${fitting.join(', ')}`,
  )
}

const NAME_WIDTH = 12

const MARKS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const

/** Rough duration of a video job. The progress bar is an estimate. */
const EXPECTED_SECONDS = 45

/** Prints the progress of the test to the console. */
export function printingObserver(): SmokeObserver {
  let bar: ProgressBar | undefined
  return {
    announce: (text) => console.log(`\n${text}\n`),
    progress(status) {
      bar ??= new ProgressBar(EXPECTED_SECONDS)
      bar.draw(status)
    },
    end(step) {
      bar?.end()
      bar = undefined
      console.log(lineOf(step))
    },
  }
}

/** Formats one step: verdict, name, result and milliseconds, and on a second line where to look, if known. */
export function lineOf({ name, verdict, milliseconds, text, lookAt }: StepVerdict): string {
  const time = verdict === 'skipped' ? '' : `  (${milliseconds} ms)`
  const hint = lookAt === undefined ? '' : `\n     ${' '.repeat(NAME_WIDTH)}look at: ${lookAt}`
  return `${MARKS[verdict]} ${name.padEnd(NAME_WIDTH)}${text}${time}${hint}`
}

/** Formats the last line: the verdict of the whole test. */
export function verdictLine({ ok, steps }: SmokeReport): string {
  const passed = steps.filter(({ verdict }) => verdict === 'passed').length
  return `\n${ok ? 'ok' : 'FAILED'}: ${passed} of ${steps.length} steps passed`
}
