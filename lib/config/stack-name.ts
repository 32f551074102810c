/** Name of the CloudFormation stack of a stage: `Reelgate-dev` of `dev`. */
export function stackName(stage: string): string {
  return `Reelgate-${stage}`
}
