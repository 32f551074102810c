import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces a file atomically: readers find the old or the new content, also after a crash or a power cut. */
export function replaceFile(file: string, content: string, mode: number): void {
  const fresh = `${file}.${process.pid}.new`
  // A leftover of a crash may have another mode, and a link with this name would be followed.
  rmSync(fresh, { force: true })
  const descriptor = openSync(fresh, 'wx', mode)
  try {
    writeFileSync(descriptor, content)
    // Otherwise a power cut could keep the new name and lose the bytes.
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
    // Some file systems cannot sync a directory; the file has been replaced anyway.
  } finally {
    closeSync(descriptor)
  }
}
