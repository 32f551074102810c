import { lstatSync } from 'node:fs'
import { join } from 'node:path'

/** The shipped configuration, which the tests use; relative to the working directory. */
export const CONFIGURATION_FILE = 'config/gateway.yaml'

/** The operator's configuration, which git ignores, so that an update of the shipped one causes no conflict. */
export const OWN_CONFIGURATION_FILE = 'config/gateway.local.yaml'

/** Describes the default in the help of the commands. */
export const DEFAULT_CONFIGURATION = `${OWN_CONFIGURATION_FILE} if it is there, else ${CONFIGURATION_FILE}`

/** The default configuration file: the operator's if it exists, else the shipped one. */
export function configurationFile(directory = '.'): string {
  // A broken link counts as existing: its author does not mean the shipped file.
  const own = lstatSync(join(directory, OWN_CONFIGURATION_FILE), { throwIfNoEntry: false })
  return own === undefined ? CONFIGURATION_FILE : OWN_CONFIGURATION_FILE
}
