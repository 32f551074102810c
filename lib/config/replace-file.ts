import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file as a whole: whoever reads it, also after a crash or a power cut, finds the old content or the new, never
 * half of one.
 */
export function replaceFile(file: string, content: string, mode: number): void {
  const fresh = `${file}.${process.pid}.new`
  // One that a crash left may have another mode, and a link of this name would be followed.
  rmSync(fresh, { force: true })
  const descriptor = openSync(fresh, 'wx', mode)
  try {
    writeFileSync(descriptor, content)
    // Without this a power cut may keep the new name and lose the bytes.
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(fresh, file)
  syncDirectory(dirname(file))
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } catch {
    // Some file systems cannot; the file has been replaced all the same.
  } finally {
    closeSync(descriptor)
  }
}
