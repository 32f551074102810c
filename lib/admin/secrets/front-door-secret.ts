import type { AdminContext } from '../command-line/command.ts'
import { CommandFailedError, OutputNotFoundError } from '../command-line/command-failed-error.ts'
import type { NamedSecret } from './secret-entries.ts'

/**
 * The secret of the front door: `current` and `previous` prove it, and `oidc_client_secret` proves the console to an OpenID provider.
 * @throws CommandFailedError with this sentence for a local host, and for a stage without a front door.
 */
export async function frontDoorSecret(
  { local, output, stage }: Pick<AdminContext, 'local' | 'output' | 'stage'>,
  onLocalHost = 'a local host has no front door: its console and API have one address',
): Promise<NamedSecret> {
  if (local) {
    throw new CommandFailedError(onLocalHost)
  }
  try {
    return { arn: await output('FrontDoorSecretArn'), name: 'secret of the front door' }
  } catch (error) {
    throw error instanceof OutputNotFoundError
      ? new CommandFailedError(`the stage ${stage} has no front door: it was deployed with console=off`)
      : error
  }
}
