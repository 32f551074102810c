import { readdirSync, readFileSync } from 'node:fs'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PollOutcome, SubmitOutcome } from '#adapters/providers/video/video-provider.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { createPipeline, type Pipeline } from '../engines/create-pipeline.ts'
import { createVideoMachine, readVideoMachine, type StateName } from '../engines/run-video-machine.ts'
import { accepted, inTurn, running, type ScriptedUpstream, succeeded } from '../engines/scripted-upstream.ts'
import { startEngines } from '../engines/start-engines.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { useOpened } from '../engines/use-opened.ts'
import { REQUEST } from '../engines/video-jobs.ts'

const FIXTURES = new URL('../fixtures/definitions/', import.meta.url)
const DEFINITIONS = readdirSync(FIXTURES)
  .filter((file) => file.endsWith('.asl.json'))
  .map((file) => file.replace('.asl.json', ''))
  .sort((left, right) => Number(left.match(/\d+/)) - Number(right.match(/\d+/)))
const EARLIER = DEFINITIONS.slice(0, -1)

const engines = useOpened(startEngines)
beforeEach(() => engines.reset())

/** One pixel, which every check of references refuses. */
const TINY_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

/** The configuration of the new version, which looks at references. */
async function openPipeline(): Promise<Pipeline> {
  const limits = { images: { formats: ['png' as const], short_side_min: 300 } }
  const models = testCatalogue().config.models.map((model) =>
    model.kind === 'video' ? { ...model, reference_limits: limits } : model,
  )
  const channels = { main: { reference_checks: true }, spare: { reference_checks: true } }
  const catalogue = testCatalogue({ trusted_origins: [engines.results.origin], models }, channels)
  const pipeline = await createPipeline({
    table: await engines.tables.fresh(),
    bucket: engines.bucket.bucket,
    catalogue,
  })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), length: '5.0' }))
  return pipeline
}

type Script = ScriptedUpstream['script']

const COURSES: readonly (readonly [course: string, ending: object, script: Partial<Script>])[] = [
  ['succeeds', { status: 'succeeded' }, {}],
  ['waits for a channel, and for its video', { status: 'succeeded' }, {}],
  [
    'is refused',
    { status: 'failed', error: 'bad prompt' },
    { submit: inTurn({ kind: 'rejected', message: 'bad prompt', text: '{}' }) },
  ],
  [
    'fails',
    { status: 'failed', error: 'no luck' },
    { poll: inTurn({ kind: 'failed', message: 'no luck', text: '{}' }) },
  ],
  [
    'is lost by its upstream',
    { status: 'failed', error: 'upstream lost the task' },
    { poll: inTurn<PollOutcome>({ kind: 'gone', reason: '404' }) },
  ],
  ['has no video', { status: 'failed', error: 'upstream result is not a video' }, { poll: inTurn(succeeded({})) }],
]

describe.each(EARLIER)('an execution started under %s', (name) => {
  it.each(COURSES)('finishes with the current functions: a job that %s', async (course, ending, script) => {
    const pipeline = await openPipeline()
    Object.assign(pipeline.upstream.script, script)
    if (course.startsWith('waits')) {
      const busy: SubmitOutcome = { kind: 'busy', reason: '429', retryAfterSeconds: undefined }
      pipeline.upstream.script.submit = inTurn<SubmitOutcome>(busy, busy, accepted())
      const success = succeeded({ video_url: engines.results.url('/video.mp4'), length: '5.0' })
      pipeline.upstream.script.poll = inTurn(running(), running(), success)
    }
    const image_urls = name === 'video-job-v1' ? [TINY_IMAGE] : []
    const job = await pipeline.create({ request: { inline: JSON.stringify({ ...REQUEST, image_urls }) } })
    const machine = createVideoMachine(pipeline, { definition: readVideoMachine(name) })
    expect(await machine.run(job)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await pipeline.read(job)).toMatchObject(ending)
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

type Interrupted = {
  /** Where the execution was, with what came before a comma. */
  readonly state: string
  readonly input: { readonly tenantId: string; readonly jobId: string; readonly next?: object }
  readonly nowSeconds: number
  readonly items: readonly Record<string, unknown>[]
}

/** Tables as the last version with that definition left them, one for each state that an execution may be in. */
const INTERRUPTED: readonly (readonly [version: string, state: string, interrupted: Interrupted])[] = EARLIER.flatMap(
  (name) => {
    const cases: Interrupted[] = JSON.parse(readFileSync(new URL(`${name}.items.json`, FIXTURES), 'utf8'))
    return cases.map((each) => [name, each.state, each] as const)
  },
)

const TOO_SMALL = expect.stringContaining('image_urls[0]')

const ENDINGS: Readonly<Record<string, readonly [visited: readonly StateName[], ending: object]>> = {
  Submit: [['Submit', 'Poll', 'Store', 'Settle', 'Notify'], { status: 'succeeded' }],
  'Submit, claimed': [['Submit', 'Submit', 'Fail', 'Notify'], { status: 'failed', error: 'submit outcome unknown' }],
  CheckReferences: [['CheckReferences', 'Fail', 'Notify'], { status: 'failed', error: TOO_SMALL }],
  WaitForChannel: [['Submit', 'Poll', 'Store', 'Settle', 'Notify'], { status: 'succeeded' }],
  WaitForUpstream: [['Poll', 'Store', 'Settle', 'Notify'], { status: 'succeeded' }],
  Store: [['Store', 'Settle', 'Notify'], { status: 'succeeded' }],
  Settle: [['Settle', 'Notify'], { status: 'succeeded' }],
  Fail: [['Fail', 'Notify'], { status: 'failed', error: 'bad prompt' }],
  Notify: [['Notify'], { status: 'succeeded' }],
}

/** Puts the table of that day into a new one, and sets the clock to that day. */
async function reopen({ items, nowSeconds }: Interrupted): Promise<Pipeline> {
  const pipeline = await openPipeline()
  const { table } = pipeline.context
  const origin = 'http://results.example'
  for (const item of items) {
    const text = JSON.stringify(item).replaceAll(origin, engines.results.origin)
    await table.client.send(new PutCommand({ TableName: table.name, Item: JSON.parse(text) }))
  }
  pipeline.clock.milliseconds = nowSeconds * 1000
  return pipeline
}

describe('a deployment during open executions', () => {
  it.each(INTERRUPTED)('finishes an execution of %s in %s with a balanced ledger', async (name, place, interrupted) => {
    const pipeline = await reopen(interrupted)
    const { input } = interrupted
    const [state = ''] = place.split(',')
    const definition = { ...readVideoMachine(name), StartAt: state }
    const machine = createVideoMachine(pipeline, { definition })
    machine.engine.start(input.jobId, JSON.stringify(input))
    expect(await machine.engine.whenEnded(input.jobId)).toMatchObject({ status: 'SUCCEEDED' })
    const [visited, ending] = ENDINGS[place] ?? []
    expect(machine.visited).toEqual(visited)
    expect(await pipeline.read(input)).toMatchObject(ending ?? {})
    expect(await pipeline.leftovers(input)).toEqual([])
    expect(await verifyLedger(pipeline.context.table)).toEqual([])
  })

  it('covers every state of an execution', () => {
    for (const name of EARLIER) {
      const waiting = Object.entries(readVideoMachine(name).States)
        .filter(([state, { Type }]) => ['Task', 'Wait'].includes(Type) && state !== 'Poll')
        .map(([state]) => state)
      const covered = INTERRUPTED.filter(([version]) => version === name).map(([, place]) => place.split(',')[0])
      expect([...new Set(covered)].sort()).toEqual(waiting.sort())
    }
  })
})

type Shape = ReturnType<typeof readVideoMachine>

/** What an execution's course depends on, without times, retries and comments. */
function shapeOf({ StartAt, States }: Shape) {
  const states = Object.entries(States).map(
    ([name, { Type, Next, Default, Choices, Parameters, ResultPath, Catch }]) => [
      name,
      { Type, Next, Default, Choices, Parameters, ResultPath, Catch: Catch?.map((each) => each.Next) },
    ],
  )
  return { StartAt, States: Object.fromEntries(states) }
}

describe('the deployed definition', () => {
  it('equals the newest recorded definition, so a change must record a new one and keep testing the old ones', () => {
    const newest = readVideoMachine(DEFINITIONS.at(-1))
    expect(shapeOf(readVideoMachine())).toEqual(shapeOf(newest))
  })
})
