import { writeFileSync } from 'node:fs'
import { absolutePath, committedContent, GENERATED_FILES, type GeneratedFile } from './generated-files.ts'

/** Writes the files of one command and prints which have changed. */
export function writeGenerated(command: GeneratedFile['command']): void {
  for (const file of GENERATED_FILES.filter((each) => each.command === command)) {
    const content = file.content()
    const isChanged = committedContent(file) !== content
    if (isChanged) {
      writeFileSync(absolutePath(file), content)
    }
    console.log(`${file.path} ${isChanged ? 'written' : 'is up to date'}`)
  }
}
