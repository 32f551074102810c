import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take ten seconds or more. They begin first: one that begins last runs on while the other workers have nothing to do. Without
 * this list the runner begins with the largest files, which are not those that take longest.
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

/** The order of the files of a run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`))
      return index < 0 ? LONGEST.length : index
    }
    return sorted.toSorted((one, other) => place(one) - place(other))
  }
}
