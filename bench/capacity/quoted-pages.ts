import { withSection } from '../../lib/docs/generated-section.ts'
import type { ReportSection } from './report.ts'

/** What writes the sections of a page. */
const WRITING_COMMAND = 'capacity -- --write'

/** The pages that quote the report with its default options, and the sections that each quotes. */
export const QUOTED_SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['costs'],
  'docs/scaling.md': [
    'assumptions',
    'jobs',
    'deletes',
    'chats',
    'chats by part',
    'web function by part',
    'plans',
    'control',
    'idle',
    'watching',
    'summary',
    '10 open jobs',
    '1000 open jobs',
    '100000 open jobs',
    'one account',
    'chats of one tenant',
  ],
}

/**
 * A page with its sections of the report.
 * @throws TypeError when the page has no markers for one of them, or the report has no such section.
 */
export function withQuotedSections(page: string, names: readonly string[], report: readonly ReportSection[]): string {
  return names.reduce((written, name) => {
    const found = report.find((section) => section.name === name)
    if (found === undefined) {
      throw new TypeError(`the report has no section "${name}"`)
    }
    return withSection(written, { name, command: WRITING_COMMAND, content: found.content })
  }, page)
}
