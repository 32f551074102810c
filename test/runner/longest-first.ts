import sequencer from '@jest/test-sequencer'

/**
 * Files that take ten seconds or more. They begin first: one that begins last runs on while the other workers have nothing to do. Jest
 * knows the times of the last run; before the first it would begin with the largest files, which are not those that take longest.
 */
export const LONGEST = [
  'test/e2e/host-lifecycle.test.ts',
  'test/browser/console.test.ts',
  'test/events/bundles.test.ts',
  'test/e2e/durability.test.ts',
  'test/browser/pages.test.ts',
  'test/simulation/lifecycle.test.ts',
  'test/e2e/failures.test.ts',
  'test/faults/platform.test.ts',
  'test/stack/reelgate-stack.test.ts',
  'test/e2e/switches.test.ts',
  'test/simulation/relayed.test.ts',
  'test/e2e/budgets.test.ts',
  'test/browser/sign-in.test.ts',
  'test/faults/restored-table.test.ts',
  'test/e2e/deletion.test.ts',
  'test/e2e/who-spent-what.test.ts',
  'test/e2e/every-kind.test.ts',
  'test/e2e/admin.test.ts',
  'test/platform/http-server/request-bodies.test.ts',
  'test/local/directory-lock.test.ts',
  'test/e2e/openai-sdk.test.ts',
  'test/faults/traffic.test.ts',
]

// Its types are those of its CommonJS twin.
const BaseSequencer = sequencer as unknown as typeof sequencer.default

type Tests = Parameters<InstanceType<typeof BaseSequencer>['sort']>[0]

/** The order of the files of a run. */
export default class LongestFirst extends BaseSequencer {
  override sort(tests: Tests): Tests {
    const sorted = super.sort(tests) as Tests
    if (sorted.some(({ duration }) => duration !== undefined)) {
      return sorted
    }
    const place = ({ path }: Tests[number]) => {
      const index = LONGEST.findIndex((file) => path.endsWith(`/${file}`))
      return index < 0 ? LONGEST.length : index
    }
    return sorted.toSorted((one, other) => place(one) - place(other))
  }
}
