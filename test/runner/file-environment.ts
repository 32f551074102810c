import { TestEnvironment } from 'jest-environment-node'
import { keepOutput } from '../logs/keep-output.ts'
import { recordUncaughtErrors } from './uncaught-errors.ts'

type Parameters = ConstructorParameters<typeof TestEnvironment>

/** What the files of a worker would share: Jest gives each file globals of its own, but these belong to the process or to Node. */
const { now } = performance
const { timeout } = AbortSignal

/** What Node itself throws is made of these, and of their twins in the globals of a test file. */
const ERRORS = { Error, TypeError, RangeError, SyntaxError } as const

/** The surroundings of one test file. */
export default class FileEnvironment extends TestEnvironment {
  readonly #console: Parameters[1]['console']
  readonly #directory = process.cwd()
  readonly #tellListening: (isListening: boolean) => void
  #hasFailed = false
  #stopKeeping: () => void = () => undefined

  constructor(config: Parameters[0], context: Parameters[1]) {
    super(config, context)
    this.#console = context.console
    for (const [name, outer] of Object.entries(ERRORS)) {
      acceptErrorsOfNode((this.global as unknown as Record<string, ErrorConstructor>)[name] ?? outer, outer)
    }
    this.#tellListening = recordUncaughtErrors(context.testPath)
  }

  override async setup(): Promise<void> {
    await super.setup()
    this.#stopKeeping = keepOutput(this.#console)
  }

  /** Jest shows all that a file prints to the console; only what is printed by a file that fails is of interest. */
  handleTestEvent({ name }: { readonly name: string }): void {
    if (name === 'setup' || name === 'teardown') {
      this.#tellListening(name === 'setup')
    }
    this.#hasFailed ||= name === 'test_fn_failure' || name === 'hook_failure' || name === 'error'
    if (name === 'run_finish' && !this.#hasFailed && 'getBuffer' in this.#console) {
      ;(this.#console as { getBuffer(): unknown[] | undefined }).getBuffer()?.splice(0)
    }
  }

  override async teardown(): Promise<void> {
    this.moduleMocker?.restoreAllMocks()
    this.#stopKeeping()
    await super.teardown()
    Object.assign(performance, { now })
    Object.assign(AbortSignal, { timeout })
    process.chdir(this.#directory)
    process.exitCode = undefined
  }
}

/** Makes `instanceof` true for an error of Node, as it is outside of tests. */
function acceptErrorsOfNode(inner: ErrorConstructor, outer: ErrorConstructor): void {
  const isInstance = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(inner, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      return isInstance.call(this as ErrorConstructor, value) || (this === inner && value instanceof outer)
    },
  })
}
