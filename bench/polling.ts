import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { UsualSeconds } from '#core/jobs/waits.ts'
import { createTable, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { createDocumentClient, openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { seededRandom } from '../test/engines/seeded-random.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import {
  believed,
  type Detection,
  drawSeconds,
  economyOf,
  type Law,
  P1,
  P2,
  pollToTheEnd,
  runCrowd,
  runLearning,
} from './poll-loop.ts'

/** What the providers' videos of five seconds take, and classes half, twice and a bit more than three times as slow. */
const STANDARD: Law = { median: 90, p95: 240 }
const FAST: Law = { median: 45, p95: 120 }
const TWICE: Law = { median: 180, p95: 480 }
const SLOW: Law = { median: 300, p95: 800 }
const NARROW: Law = { median: 90, p95: 135 }

const SEED = 1

const everySeconds = (seconds: number): VideoChannel => ({
  ...P2,
  poll: { first_seconds: seconds, interval_seconds: seconds },
})

/** Gives the table of the local engine, in memory and empty, to a measurement. */
async function withMemoryTable<Result>(measure: (table: Table) => Promise<Result>): Promise<Result> {
  const engine = await startDynamoDbEngine(':memory:', { PATH: process.env.PATH })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials })
  try {
    const name = 'reelgate-bench'
    await createTable(name, client)
    return await measure(openTable({ client: createDocumentClient(client), name }))
  } finally {
    client.destroy()
    await engine.close()
  }
}

/** What the poll rhythm costs, what it is worth, and how many polls a crowded channel gets. */
export async function measurePolling(
  { quick, progress }: MeasureOptions = { quick: false, progress: () => {} },
): Promise<string> {
  const jobs = quick ? 10_000 : 200_000
  progress(`known classes, ${jobs} jobs a row`)
  const known = knownClasses(jobs)
  const learnt = await withMemoryTable((table) => learntClasses(table, { jobs: quick ? 600 : 6000, progress }))
  const crowded = await withMemoryTable((table) => crowdedChannel(table, { jobs: quick ? 200 : 1000, progress }))
  return [
    '## Polling',
    'In virtual time, over the waits that the gateway itself computes (`lambdas/core/jobs/waits.ts`), seeded. A round takes' +
      ' 0.35 s beside its wait. Generation times are lognormal, by median and 95th percentile. Dollars: three state' +
      ' transitions and one run of the poll function for each poll; what every job pays once is left out. Lag: from the end' +
      ' of a generation to the poll that found it.',
    known,
    learnt,
    crowded,
  ].join('\n\n')
}

type Row = { readonly name: string; readonly detections: readonly Detection[] }

function economyTable(head: string, rows: readonly Row[]): string {
  const columns = [head, 'Polls a job', 'Lag mean, s', 'Lag p95, s', 'Transitions a job', '$ per 1,000 jobs']
  return markdownTable(
    columns,
    rows.map(({ name, detections }) => {
      const { polls, lag, lagP95, transitions, dollarsPerThousand } = economyOf(detections)
      return [
        name,
        polls.toFixed(1),
        lag.toFixed(2),
        lagP95.toFixed(1),
        transitions.toFixed(0),
        dollarsPerThousand.toFixed(3),
      ]
    }),
  )
}

type Known = { readonly channel: VideoChannel; readonly law?: Law; readonly usual?: UsualSeconds }

/** One class: the start values, the class known as it is, and known wrongly. */
function knownClasses(jobs: number): string {
  const run = (name: string, { channel, law = STANDARD, usual }: Known): Row => {
    const random = seededRandom(SEED)
    const detections = Array.from({ length: jobs }, () =>
      pollToTheEnd({ channel, seconds: drawSeconds(law, random), usual, random }),
    )
    return { name, detections }
  }
  const rows = [
    run('every 5 s', { channel: everySeconds(5) }),
    run('every 10 s', { channel: everySeconds(10) }),
    run('every 15 s', { channel: everySeconds(15) }),
    run('P2, start values (42 s, 9 s)', { channel: P2 }),
    run('P2, class known', { channel: P2, usual: believed(STANDARD) }),
    run('P1, start values (30 s, 15 s)', { channel: P1 }),
    run('P1, class known', { channel: P1, usual: believed(STANDARD) }),
    run('90 / 135 s: P2, start values', { channel: P2, law: NARROW }),
    run('90 / 135 s: P2, class known', { channel: P2, law: NARROW, usual: believed(NARROW) }),
    run('90 / 135 s: P1, start values', { channel: P1, law: NARROW }),
    run('90 / 135 s: P1, class known', { channel: P1, law: NARROW, usual: believed(NARROW) }),
  ]
  const wrong = [FAST, TWICE].flatMap((law) => [
    run(`P2, truly ${law.median} s, start values`, { channel: P2, law }),
    run(`P2, truly ${law.median} s, 90 s believed`, { channel: P2, law, usual: believed(STANDARD) }),
    run(`P1, truly ${law.median} s, 90 s believed`, { channel: P1, law, usual: believed(STANDARD) }),
  ])
  const worst = run('P2, truly 45 s, 300 s believed', { channel: P2, law: FAST, usual: believed(SLOW) })
  return [
    `### A class, known or not\n\nMedian 90 s, p95 240 s unless named; ${jobs} jobs a row.`,
    economyTable('Rhythm', rows),
    'Believed wrongly, as after a change of the upstream, until some 50 jobs have shown it:',
    economyTable('Rhythm', [...wrong, worst]),
  ].join('\n\n')
}

type Sized = Pick<MeasureOptions, 'progress'> & { readonly jobs: number }

/** The class and the law of the job of a number. */
type LawOf = (job: number, random: () => number) => { readonly className: string; readonly law: Law }

const one: LawOf = () => ({ className: 'one', law: STANDARD })
const mixture: LawOf = (_job, random) => {
  const law = [FAST, STANDARD, SLOW][Math.floor(3 * random())] ?? STANDARD
  return { className: `${law.median}`, law }
}
/** Half as fast and back again, every 300 jobs. */
const shifting: LawOf = (job) => ({ className: 'shifting', law: job % 600 < 300 ? STANDARD : TWICE })
const bimodal: LawOf = (_job, random) => ({
  className: 'bimodal',
  law: random() < 0.5 ? { median: 40, p95: 56 } : { median: 200, p95: 280 },
})

const SCENARIOS: readonly (readonly [name: string, channel: VideoChannel, lawOf: LawOf, isReported?: boolean])[] = [
  ['P2, one class', P2, one],
  ['P2, mixture', P2, mixture],
  ['P2, mixture, no times reported', P2, mixture, false],
  ['P2, shifting', P2, shifting],
  ['P2, two peaks', P2, bimodal],
  ['P1, one class', P1, one],
  ['P1, mixture', P1, mixture],
]

/** The same jobs with the start values, and with what the gateway learns from them, beginning with nothing. */
async function learntClasses(table: Table, { jobs, progress }: Sized): Promise<string> {
  const rows: Row[] = []
  for (const [index, [name, channel, lawOf, isReported = true]] of SCENARIOS.entries()) {
    progress(`${name}: learning from ${jobs} jobs`)
    const dice = seededRandom(SEED)
    const drawn = Array.from({ length: jobs }, (_, job) => {
      const { className, law } = lawOf(job, dice)
      return { className, seconds: drawSeconds(law, dice) }
    })
    const random = seededRandom(SEED + 1)
    const start = drawn.map(({ seconds }) => pollToTheEnd({ channel, seconds, random }))
    const own = { ...channel, id: `bench-${index}` }
    const learnt = await runLearning(drawn, { table, channel: own, random: seededRandom(SEED + 1), isReported })
    rows.push({ name: `${name}: start values`, detections: start }, { name: `${name}: learnt`, detections: learnt })
  }
  return [
    '### Learning from nothing',
    `${jobs} jobs a row, one after the other, over the table of the local engine. One class: 90 s. Mixture: classes of 45, 90` +
      ' and 300 s, a third each. Shifting: twice as slow and back every 300 jobs. Two peaks: one class, half of it about 40 s' +
      ' and half about 200 s.',
    economyTable('Jobs', rows),
  ].join('\n\n')
}

/** The shipped `requests_per_second` of P1; its provider takes 20 from one account. */
const PER_SECOND = 15

async function crowdedChannel(table: Table, { jobs, progress }: Sized): Promise<string> {
  const rows: (string | number)[][] = []
  for (const withinSeconds of [1, 60, 300]) {
    progress(`${jobs} jobs on one channel within ${withinSeconds} s`)
    const channel = { ...P1, id: `crowd-${withinSeconds}`, poll: { requests_per_second: PER_SECOND } }
    const outcome = await runCrowd({ table, channel, jobs, withinSeconds, law: STANDARD, random: seededRandom(SEED) })
    rows.push([
      `${withinSeconds} s`,
      `${outcome.finished} of ${jobs}`,
      outcome.busiestSecond,
      outcome.polls.toFixed(1),
      outcome.throttled.toFixed(1),
      outcome.lag.toFixed(1),
      outcome.lagP95.toFixed(1),
    ])
  }
  const head = [
    'Accepted within',
    'Found finished',
    'Polls in the busiest second',
    'Polls a job',
    'Visits without a token a job',
  ]
  return [
    '### A crowded channel',
    `${jobs} open jobs on one P1 channel with \`requests_per_second: ${PER_SECOND}\`, by the token bucket in the table of the` +
      ' local engine; median 90 s, p95 240 s. No second, wherever it begins, may get more polls than that.',
    markdownTable([...head, 'Lag mean, s', 'Lag p95, s'], rows),
  ].join('\n\n')
}
