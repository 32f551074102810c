import { stackName } from './stack-name.ts'
import type { StageSettings } from './stage-settings.ts'

/**
 * The warning for a stage that retains its data and is not protected; undefined for any other stage. A stack is created
 * without protection, because CloudFormation cannot roll back protected resources if the creation fails.
 */
export function unprotectedSentence({
  stage,
  retainsData,
  isProtected,
}: Pick<StageSettings, 'stage' | 'retainsData' | 'isProtected'>): string | undefined {
  return retainsData && !isProtected
    ? `${stackName(stage)} is not protected against deletion, so that a failed first deployment can be repeated. From the next deployment on, use -c deletionProtection=true, or "deletionProtection": "true" in the context of cdk.json.`
    : undefined
}
