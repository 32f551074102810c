import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/cli/terminal.ts'
import { CAPACITY_USAGE, QUOTED_SECTIONS, readCapacityCommand, withQuotedSections } from './command.ts'
import { type ReportSection, reportCapacity } from './report.ts'

/** `npm run capacity`: exit status 2 for an option that is none. */
function main(): void {
  try {
    const command = readCapacityCommand(process.argv.slice(2))
    if (command === undefined) {
      console.log(CAPACITY_USAGE)
      return
    }
    const report = reportCapacity(command.options)
    if (command.isWriting) {
      write(report)
    } else {
      console.log(report.map(({ title, content }) => `## ${title}\n\n${content}`).join('\n\n'))
    }
  } catch (error) {
    if (!(error instanceof UsageError)) {
      throw error
    }
    console.error(`${error.message}\n\n${CAPACITY_USAGE}`)
    process.exitCode = 2
  }
}

function write(report: readonly ReportSection[]): void {
  for (const [path, names] of Object.entries(QUOTED_SECTIONS)) {
    const file = join(import.meta.dirname, '..', '..', path)
    const page = readFileSync(file, 'utf8')
    const written = withQuotedSections(page, names, report)
    writeFileSync(file, written)
    console.log(`${path} ${written === page ? 'is up to date' : 'written'}`)
  }
}

main()
