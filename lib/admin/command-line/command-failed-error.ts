/** A command failed: one sentence that says why and what to do. Exit code 1. */
export class CommandFailedError extends Error {
  override readonly name: string = 'CommandFailedError'
}

/** No such stage is deployed, no local host runs, or it lacks something that the command needs. */
export class DeploymentNotFoundError extends CommandFailedError {
  override readonly name = 'DeploymentNotFoundError'
}

/** The stage or local host exists and does not have this output. It keeps its parent's name, so it is explained in the same way. */
export class OutputNotFoundError extends DeploymentNotFoundError {}

/** The person did not confirm; nothing was changed. */
export class NotConfirmedError extends CommandFailedError {
  override readonly name = 'NotConfirmedError'
}
