/** The configuration that is read where nobody names another file; relative to the directory that a command is run in. */
export const CONFIGURATION_FILE = 'config/gateway.yaml'
