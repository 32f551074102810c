import { stackName } from './stack-name.ts'
import type { StageSettings } from './stage-settings.ts'

/**
 * One sentence about a stage whose data outlives it and that nothing protects; undefined where there is nothing to say. A
 * stack is made without protection, because CloudFormation cannot take back what is protected when its creation fails.
 */
export function unprotectedSentence({
  stage,
  retainsData,
  isProtected,
}: Pick<StageSettings, 'stage' | 'retainsData' | 'isProtected'>): string | undefined {
  return retainsData && !isProtected
    ? `${stackName(stage)} is not protected against deletion, so that a first deployment can be repeated if it fails. Say -c deletionProtection=true, or "deletionProtection": "true" in the context of cdk.json, from the next deployment on.`
    : undefined
}
