import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { keepChildOutput } from '../logs/keep-child-output.ts'
import { createApp, createStack, folderOf, stageSettings } from '../stack/synthesize-stack.ts'
import type { Invocation, InvocationOutcome } from './invoke-bundle.ts'

const STACK_NAME = 'Reelgate-test'

/** A function as the synthesised assembly has it. */
type DeployedFunction = {
  readonly directory: string
  /** The export that Lambda calls. */
  readonly entry: string
  readonly timeoutSeconds: number
  /** Values that the template writes out, and references to what exists only when deployed. */
  readonly variables: Readonly<Record<string, unknown>>
}

/** Every function of one cloud assembly, run as Lambda would: its own process, its own variables and no other. */
export class DeployedFunctions {
  readonly #functions: ReadonlyMap<string, DeployedFunction>
  /** Function folders by the names that the state machine's definition gives its tasks. */
  readonly taskFolders: Readonly<Record<string, string>>
  /** Where the real service would have put its own values. */
  readonly #localValues: Readonly<Record<string, string>>
  readonly #running = new Set<Promise<unknown>>()

  /** @param localValues stand in for references of the template, and for what Lambda itself sets. */
  constructor(config: GatewayConfig, localValues: Record<string, string>) {
    const { directory, functions, machine } = synthesize(config)
    this.#functions = new Map(functions.map(([, each]) => [folderOf(each), readFunction(directory, each)]))
    const byId = new Map(functions)
    this.taskFolders = Object.fromEntries(
      Object.entries(machine.DefinitionSubstitutions).map(([name, { 'Fn::GetAtt': reference }]) => [
        name,
        folderOf(byId.get(reference[0]) ?? { Description: '' }),
      ]),
    )
    this.#localValues = localValues
  }

  get folders(): string[] {
    return [...this.#functions.keys()].sort()
  }

  /**
   * @param entry the export that the template names; the other one of a function that streams, as an emulator would.
   * @returns what the handler returns. @throws FunctionFailedError when it throws.
   */
  async invoke(folder: string, event: unknown, entry = this.#find(folder).entry): Promise<unknown> {
    const invocation = this.#run({ ...this.#find(folder), entry }, event)
    this.#running.add(invocation)
    try {
      return await invocation
    } finally {
      this.#running.delete(invocation)
    }
  }

  /** @returns what the function writes to its stream. @throws FunctionFailedError when it throws. */
  async invokeStreaming(folder: string, event: unknown): Promise<Buffer> {
    const written = await this.invoke(folder, event)
    if (this.#find(folder).entry !== 'streamHandler' || typeof written !== 'string') {
      throw new TypeError(`${folder} does not stream`)
    }
    return Buffer.from(written, 'base64')
  }

  /** Resolves when no invocation is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  #find(folder: string): DeployedFunction {
    const found = this.#functions.get(folder)
    if (found === undefined) {
      throw new RangeError(`the stack has no function ${folder}`)
    }
    return found
  }

  async #run({ directory, entry, timeoutSeconds, variables }: DeployedFunction, event: unknown): Promise<unknown> {
    const child = fork(join(import.meta.dirname, 'invoke-bundle.ts'), [join(directory, 'index.mjs')], {
      env: { ...this.#runtimeVariables(), ...this.#resolve(variables), LAMBDA_TASK_ROOT: directory },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    keepChildOutput(child)
    const output: string[] = []
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString('utf8')))
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk.toString('utf8')))
    const outcome = await new Promise<InvocationOutcome>((resolve) => {
      child.once('message', (message: InvocationOutcome) => resolve(message))
      child.once('close', (code) => resolve({ errorType: 'Runtime.ExitError', cause: `exit status ${code}` }))
      const invocation: Invocation = { event, timeoutSeconds, entry }
      child.send(invocation)
    })
    if ('errorType' in outcome) {
      throw new FunctionFailedError(outcome.errorType, `${outcome.cause}\n${output.join('')}`)
    }
    return outcome.result
  }

  /** What Lambda sets for every function, pointed at the local engines. */
  #runtimeVariables(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.#localValues).filter(([name]) => name.startsWith('AWS_')))
  }

  #resolve(variables: Readonly<Record<string, unknown>>): Record<string, string> {
    const resolve = ([name, value]: [string, unknown]) => {
      const local = typeof value === 'string' ? value : this.#localValues[name]
      if (local === undefined) {
        throw new RangeError(`no local value for ${name}`)
      }
      return [name, local]
    }
    return Object.fromEntries(Object.entries(variables).map(resolve))
  }
}

/** The handler threw; the message ends with what it logged. */
class FunctionFailedError extends Error {
  override readonly name: string
  constructor(errorType: string, message: string) {
    super(message)
    this.name = errorType
  }
}

type FunctionProperties = {
  readonly Description: string
  readonly Code: { readonly S3Key: string }
  readonly Handler: string
  readonly Timeout: number
  readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> }
}

type MachineProperties = { readonly DefinitionSubstitutions: Record<string, { 'Fn::GetAtt': [string, string] }> }

type Resource =
  | { readonly Type: 'AWS::Lambda::Function'; readonly Properties: FunctionProperties }
  | { readonly Type: 'AWS::StepFunctions::StateMachine'; readonly Properties: MachineProperties }

function synthesize(config: GatewayConfig) {
  const consoleFolder = mkdtempSync(join(tmpdir(), 'reelgate-console-'))
  writeFileSync(join(consoleFolder, 'index.html'), '<!doctype html>')
  const settings = stageSettings({ console: 'on' })
  const { node } = createStack(
    { config, settings, consoleFolder },
    createApp({ bundledStacks: [STACK_NAME], withSourceMaps: false }),
  )
  if (!App.isApp(node.root)) {
    throw new TypeError('the stack has no app')
  }
  const { directory } = node.root.synth()
  rmSync(consoleFolder, { recursive: true })
  const template: { Resources: Record<string, Resource> } = JSON.parse(
    readFileSync(join(directory, `${STACK_NAME}.template.json`), 'utf8'),
  )
  const functions: [string, FunctionProperties][] = []
  let machine: MachineProperties = { DefinitionSubstitutions: {} }
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    if (Type === 'AWS::Lambda::Function') {
      functions.push([id, Properties])
    } else if (Type === 'AWS::StepFunctions::StateMachine') {
      machine = Properties
    }
  }
  return { directory, functions, machine }
}

function readFunction(
  directory: string,
  { Code, Handler, Timeout, Environment }: FunctionProperties,
): DeployedFunction {
  return {
    directory: join(directory, `asset.${Code.S3Key.replace('.zip', '')}`),
    entry: Handler.replace('index.', ''),
    timeoutSeconds: Timeout,
    variables: Environment.Variables,
  }
}
