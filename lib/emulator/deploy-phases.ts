import { join } from 'node:path'

/** What is deployed, and where its files go. */
export type DeployOptions = {
  readonly stage: string
  readonly configFile: string
  /** Where the cloud assembly and the outputs are written. */
  readonly directory: string
}

/** One run of the `cdk` command. */
export type DeployPhase = { readonly name: string; readonly parameters: readonly string[] }

/** Stages whose name says what they are for; the others need the profile said. */
const STAGES_WITH_PROFILE = ['dev', 'prod']

/** The JSON file into which `cdk deploy` writes the outputs, by stack. */
export function outputsFile({ directory }: Pick<DeployOptions, 'directory'>): string {
  return join(directory, 'outputs.json')
}

/** The runs of `cdk` that deploy the stack of a stage to an emulator: it is bundled once, for all of them. */
export function deployPhases(options: DeployOptions): readonly DeployPhase[] {
  const { stage, configFile, directory } = options
  const assembly = join(directory, 'cdk.out')
  const settings = {
    emulator: 'true',
    stage,
    config: configFile,
    ...(STAGES_WITH_PROFILE.includes(stage) ? {} : { profile: 'dev' }),
  }
  const context = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const outputs = outputsFile(options)
  return [
    { name: 'synth', parameters: ['synth', '--quiet', '--output', assembly, ...context] },
    { name: 'bootstrap', parameters: ['bootstrap', '--app', assembly] },
    {
      name: 'deploy',
      parameters: ['deploy', '--app', assembly, '--require-approval', 'never', '--outputs-file', outputs],
    },
  ]
}
