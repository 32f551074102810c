import { join } from 'node:path'

/** The stage to deploy, its configuration and the directory of its files. */
export type DeployOptions = {
  readonly stage: string
  readonly configFile: string
  /** Further context settings, as `-c key=value` gives them. */
  readonly context: Readonly<Record<string, string>>
  /** Receives the cloud assembly and the outputs. */
  readonly directory: string
}

/** One run of the `cdk` command. */
export type DeployPhase = { readonly name: string; readonly parameters: readonly string[] }

/** Stages whose name implies their profile. */
const STAGES_WITH_PROFILE = ['dev', 'prod']

/** The JSON file into which `cdk deploy` writes the outputs, by stack. */
export function outputsFile({ directory }: Pick<DeployOptions, 'directory'>): string {
  return join(directory, 'outputs.json')
}

/** All context settings of a deployment to an emulator. */
export function emulatorContext({
  stage,
  configFile,
  context,
}: Omit<DeployOptions, 'directory'>): Readonly<Record<string, string>> {
  const profile = STAGES_WITH_PROFILE.includes(stage) ? {} : { profile: 'dev' }
  return { ...profile, ...context, emulator: 'true', stage, config: configFile }
}

/** The runs of `cdk` that deploy the stack of a stage to an emulator; the first one bundles the functions for all. */
export function deployPhases(options: DeployOptions): readonly DeployPhase[] {
  const { directory } = options
  const assembly = join(directory, 'cdk.out')
  const context = Object.entries(emulatorContext(options)).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const outputs = outputsFile(options)
  return [
    { name: 'synth', parameters: ['synth', '--quiet', '--output', assembly, ...context] },
    { name: 'bootstrap', parameters: ['bootstrap', '--app', assembly] },
    {
      name: 'deploy',
      // Without change sets: after a deployment without changes `cdk` deletes one that is gone, which MiniStack refuses.
      parameters: [
        'deploy',
        '--app',
        assembly,
        '--method=direct',
        '--require-approval=never',
        '--outputs-file',
        outputs,
      ],
    },
  ]
}
