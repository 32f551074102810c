import { lstatSync } from 'node:fs'
import { join } from 'node:path'

/** The configuration that is shipped, and the subject of the tests; relative to the directory that a command is run in. */
export const CONFIGURATION_FILE = 'config/gateway.yaml'

/** The operator's own, which git ignores, so that an update of the shipped one meets no edits. */
export const OWN_CONFIGURATION_FILE = 'config/gateway.local.yaml'

/** What is read where nobody names a file, for the help of the commands. */
export const DEFAULT_CONFIGURATION = `${OWN_CONFIGURATION_FILE} if it is there, else ${CONFIGURATION_FILE}`

/**
 * The configuration file where nobody names one: the operator's own if it is there, else the shipped one. The start, the
 * synth and the admin commands all ask here; tests name the file that they are about.
 */
export function configurationFile(directory = '.'): string {
  // A link that leads nowhere counts too: whoever made it does not mean the shipped file.
  const own = lstatSync(join(directory, OWN_CONFIGURATION_FILE), { throwIfNoEntry: false })
  return own === undefined ? CONFIGURATION_FILE : OWN_CONFIGURATION_FILE
}
