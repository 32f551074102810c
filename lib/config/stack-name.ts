/** The name of the CloudFormation stack of a stage: `Reelgate-dev` for `dev`. */
export function stackName(stage: string): string {
  return `Reelgate-${stage}`
}
