import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { median } from './statistics.ts'
import { startStoreRig } from './storing/store-rig.ts'
import type { TransferFigures } from './storing/storing-process.ts'

const MEBIBYTE = 2 ** 20
const MEGABYTE = 1_000_000

/** The smaller video goes oftener: the largest growth of a few runs depends on how long they ran. */
const RUNS = {
  full: [
    { mebibytes: 256, rounds: 6 },
    { mebibytes: 1024, rounds: 4 },
  ],
  quick: [
    { mebibytes: 64, rounds: 1 },
    { mebibytes: 256, rounds: 1 },
  ],
} as const

const KINDS = ['store', 'bare'] as const
type Kind = (typeof KINDS)[number]
type Run = TransferFigures & { readonly kind: Kind; readonly mebibytes: number }

/** Memory and throughput of the store step, beside a bare upload of the same bytes to the same engine. */
export async function measureStore({ quick, progress }: MeasureOptions): Promise<string> {
  const planned = quick ? RUNS.quick : RUNS.full
  const sizes = planned.map(({ mebibytes }) => mebibytes)
  const rig = await startStoreRig(Math.max(...sizes) * MEBIBYTE)
  const runs: Run[] = []
  try {
    for (const { mebibytes, rounds } of planned) {
      for (let round = 1; round <= rounds; round += 1) {
        for (const kind of KINDS) {
          const figures = await rig.transfer(kind, mebibytes * MEBIBYTE)
          runs.push({ ...figures, kind, mebibytes })
          progress(
            `${kind} ${mebibytes} MiB, round ${round} of ${rounds}: ${speed({ ...figures, mebibytes }).toFixed(0)} MB/s`,
          )
        }
      }
    }
  } finally {
    await rig.close()
  }
  return report(runs, sizes)
}

function speed({ mebibytes, seconds }: Pick<Run, 'mebibytes' | 'seconds'>): number {
  return (mebibytes * MEBIBYTE) / MEGABYTE / seconds
}

function growth({ residentBefore, residentPeak }: TransferFigures): number {
  return (residentPeak - residentBefore) / MEGABYTE
}

const NAMES: Readonly<Record<Kind, string>> = { store: 'store step', bare: 'bare `Upload` of the same stream' }

function report(runs: readonly Run[], sizes: readonly number[]): string {
  const of = (kind: Kind, mebibytes: number) => runs.filter((run) => run.kind === kind && run.mebibytes === mebibytes)
  const rows = sizes.flatMap((mebibytes) =>
    KINDS.map((kind) => {
      const some = of(kind, mebibytes)
      return [
        `${mebibytes} MiB`,
        NAMES[kind],
        median(some.map(speed)).toFixed(0),
        some.map((run) => speed(run).toFixed(0)).join(', '),
        median(some.map(({ processorSeconds }) => processorSeconds)).toFixed(2),
        Math.max(...some.map(growth)).toFixed(0),
        some.map((run) => growth(run).toFixed(0)).join(', '),
        (Math.max(...some.map(({ residentPeak }) => residentPeak)) / MEGABYTE).toFixed(0),
      ]
    }),
  )
  const [small = 0, large = 0] = sizes
  const ratio = median(of('store', large).map(speed)) / median(of('bare', large).map(speed))
  const grown = (mebibytes: number) => Math.max(...of('store', mebibytes).map(growth))
  const head = ['video', 'by', 'MB/s, median', 'each', 'CPU s', 'growth MB, largest', 'each', 'peak MB']
  return [
    '## Store',
    '',
    'From a loopback upstream into the local S3 engine over HTTP; upstream, engine and storing process are processes of their own',
    'on one machine. Interleaved, each in a fresh process that has loaded the store function, after a warm-up; growth is the',
    'largest resident memory, sampled every 50 ms, less what it was before, after a garbage collection. The local engine bounds',
    'both: CPU is of the storing process alone.',
    '',
    markdownTable(head, rows),
    '',
    markdownTable(
      ['target', 'found'],
      [
        [`growth at ${large} MiB below 200 MB`, `${grown(large).toFixed(0)} MB`],
        [
          `growth no larger at ${large} MiB than at ${small} MiB`,
          `${grown(large).toFixed(0)} MB and ${grown(small).toFixed(0)} MB`,
        ],
        [`at least 80 % of the bare upload’s throughput at ${large} MiB`, `${(ratio * 100).toFixed(0)} %`],
      ],
    ),
  ].join('\n')
}
