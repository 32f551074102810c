import * as z from 'zod/mini'
import { InvalidRequestError } from '#core/errors.ts'
import { nearestName } from '#core/nearest-name.ts'
import type { AdminOperation, OutputOf } from '#lambdas/admin/operation.ts'
import { once } from '#platform/cache.ts'
import type { Table } from '#store/table/table.ts'
import { listTenants } from '#store/tenants/tenants.ts'
import { CommandFailedError } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { readFigures } from './channel-figures.ts'
import type { AdminContext, Command, CommandOption, CommandValues } from './command.ts'
import { readDeployedConfig } from './deployed-config.ts'
import type { DocumentedOperation } from './document.ts'

/** An option of a command that gives a field of the input, where its text is not the JSON of the field. */
export type FieldOption = CommandOption & {
  /** The field from the text of the option. @throws UsageError. */
  readonly read?: (text: string) => unknown
  /** The field where the option is left out, if the schema has no default. */
  readonly default?: () => unknown
  /** The same for an id, which may be given as a name: looked up after all other options were read. */
  readonly find?: (table: Table, text: string) => Promise<string>
}

/** The input and the output of an operation, as its command handles them. */
type Typed<Documented extends DocumentedOperation> = {
  readonly input: Parameters<Documented['operation']['run']>[0]
  readonly output: OutputOf<Documented['operation']>
}

/** What a command adds to its operation. */
type CommandPart<Documented extends DocumentedOperation> = Pick<Command, 'name' | 'details' | 'examples'> & {
  /** Default: that of the operation. */
  readonly summary?: string
  /** Fields that this command always sends. */
  readonly fixed?: Partial<Typed<Documented>['input']>
  /**
   * Options that need more than the schema of their field says, in the order of the help; the others follow. A name in capitals is a word
   * after the name of the command.
   */
  readonly options?: Readonly<Record<string, FieldOption>>
  /** Fields of the input without an option. */
  readonly without?: readonly string[]
  /** Asks for confirmation and warns. @returns fields that the confirmation adds to the input. */
  readonly prepare?: (
    input: Typed<Documented>['input'],
    context: AdminContext,
  ) => Promise<Partial<Typed<Documented>['input']> | undefined>
  /** The output for people. Default: a line for each field. */
  readonly format?: (output: Typed<Documented>['output']) => string
  /** Whether the exit code is 0. Default: always. */
  readonly isOk?: (output: Typed<Documented>['output']) => boolean
}

/** The fields of a list that a command reads to its end. */
const PAGE_FIELDS: readonly string[] = ['after', 'limit']

/** The rows of a list whose command has `limit`. */
const ROWS_DEFAULT = 50

/**
 * The command of an operation. Path, query and body become options; `--json` prints what HTTP responds, but a list as a whole. A test
 * compares the two.
 */
export function commandOf<Documented extends DocumentedOperation>(
  documented: Documented,
  part: CommandPart<Documented>,
): Command {
  const { operation, summary } = documented
  const options = optionsOf(operation, part)
  const words = Object.entries(options).filter(([name]) => name === name.toUpperCase())
  const format: (output: never) => string = part.format ?? formatFields
  return {
    ...{ name: part.name, summary: part.summary ?? summary, examples: part.examples, operation: operation.name },
    parameters: words.map(([name, option]) => ({ name, ...option })),
    options: Object.fromEntries(Object.entries(options).filter(([name]) => name !== name.toUpperCase())),
    ...(part.details === undefined ? {} : { details: part.details }),
    async run(context, values) {
      const input = await readInput(operation, options, { context, values, fixed: part.fixed })
      const more = await part.prepare?.(input as Typed<Documented>['input'], context)
      const rowsMax = part.options?.limit === undefined ? undefined : (values.count('limit') ?? ROWS_DEFAULT)
      const output = await runWhole(operation, { ...input, ...more }, { context, rowsMax }).catch((error) => {
        throw error instanceof InvalidRequestError ? refusedOptions(error, options) : error
      })
      const isOk = part.isOk?.(output as Typed<Documented>['output']) ?? true
      return { json: output, text: format(output as never), isOk } satisfies Output
    },
  }
}

/** A line for each option that the operation refuses. */
function refusedOptions(
  error: InvalidRequestError,
  options: Readonly<Record<string, FieldOption>>,
): CommandFailedError {
  const optionOf = new Map(Object.entries(options).map(([option, { field = option }]) => [field, option]))
  const lines = error.issues.map(({ path, message }) => `--${optionOf.get(path) ?? path}: ${message}`)
  return new CommandFailedError(lines.join('\n'), { cause: error })
}

function optionsOf(
  { path, query = {}, body }: AdminOperation,
  { options = {}, without = [], fixed = {} }: Pick<CommandPart<DocumentedOperation>, 'options' | 'without' | 'fixed'>,
): Readonly<Record<string, FieldOption>> {
  const covered = new Set([
    ...PAGE_FIELDS,
    ...without,
    ...Object.keys(fixed),
    ...Object.entries(options).map(([name, { field }]) => field ?? name),
  ])
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): [string, FieldOption] => [
    name,
    { value: 'ID', summary: `the ${name.replaceAll('_', ' ')}`, required: true },
  ])
  const filters = Object.keys(query).map((name): [string, FieldOption] => [
    name,
    { value: name.toUpperCase(), summary: `filter by ${name.replaceAll('_', ' ')}` },
  ])
  const derived = [...ids, ...filters, ...(body === undefined ? [] : bodyOptions(body()))]
    .filter(([field]) => !covered.has(field))
    .map(([field, option]) => [field.replaceAll('_', '-'), { ...option, field }] as const)
  return { ...options, ...Object.fromEntries(derived) }
}

/** An option for each field of a body: a switch for true or false, else a value. */
function bodyOptions(body: z.ZodMiniType): [string, FieldOption][] {
  const { properties = {}, required = [] } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
  return Object.entries(properties).map(([name, schema]) => {
    const { type, description = name, enum: choices } = Object(schema)
    return [
      name,
      {
        summary: `${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, ''),
        ...(type === 'boolean' ? {} : { value: choices?.join('|') ?? name.toUpperCase() }),
        ...(type === 'integer' || type === 'number' ? { read: Number } : {}),
        ...(required.includes(name) ? { required: true as const } : {}),
      },
    ]
  })
}

type Given = { readonly context: AdminContext; readonly values: CommandValues; readonly fixed: object | undefined }

/** The input of an operation from the options of its command. @throws UsageError. */
async function readInput(
  operation: AdminOperation,
  options: Readonly<Record<string, FieldOption>>,
  { context, values, fixed }: Given,
): Promise<object> {
  const input: Record<string, unknown> = { ...fixed }
  for (const [option, { field = option, read, value, default: absent }] of Object.entries(options)) {
    const text = values.text(option)
    if (value === undefined && values.has(option)) {
      input[field] = true
    } else if (text !== undefined) {
      input[field] = read === undefined ? text : read(text)
    } else if (absent !== undefined) {
      input[field] = absent()
    }
  }
  if (fixed === undefined) {
    requireChange(operation, options, values)
  }
  const parsed = withParsedFields(operation, options, { input, fixed })
  const found: Record<string, string> = {}
  for (const [option, { field = option, find }] of Object.entries(options)) {
    const text = values.text(option)
    if (find !== undefined && text !== undefined) {
      found[field] = await find(await context.table(), text)
    }
  }
  return { ...parsed, ...found }
}

/** @throws UsageError for a change that changes nothing. */
function requireChange(
  { method, path }: AdminOperation,
  options: Readonly<Record<string, FieldOption>>,
  values: CommandValues,
) {
  const fields = Object.entries(options).filter(([option, { field = option }]) => !path.includes(`{${field}}`))
  if (method === 'PATCH' && !fields.some(([option]) => values.has(option))) {
    throw new UsageError(`nothing to change: use ${fields.map(([option]) => `--${option}`).join(', ')}`)
  }
}

/** Fields without a reader are parsed by the schema, which also gives defaults. @throws UsageError naming the option. */
function withParsedFields(
  { query = {}, body }: AdminOperation,
  options: Readonly<Record<string, FieldOption>>,
  { input, fixed = {} }: { readonly input: Readonly<Record<string, unknown>>; readonly fixed: object | undefined },
): object {
  const shape: Readonly<Record<string, z.ZodMiniType>> = Object(body?.()).shape ?? {}
  const optionOf = new Map(Object.entries(options).map(([option, each]) => [each.field ?? option, { option, ...each }]))
  const parsed = Object.entries(shape).flatMap(([field, schema]) => {
    const option = optionOf.get(field)
    const isRead = field in input && option?.read !== undefined && option.read !== Number
    if (field in fixed || option?.find !== undefined || isRead) {
      return []
    }
    const result = schema.safeParse(input[field])
    if (!result.success) {
      throw new UsageError(`--${option?.option ?? field}: ${result.error.issues[0]?.message ?? 'wrong'}`)
    }
    return result.data === undefined ? [] : [[field, result.data]]
  })
  const pages = PAGE_FIELDS.filter((name) => name in query).map((name) => [name, query[name]?.({}, name)])
  return { ...input, ...Object.fromEntries(pages), ...Object.fromEntries(parsed) }
}

type Whole = { readonly context: AdminContext; readonly rowsMax: number | undefined }

/** Runs an operation; a list page after page, without what tells of pages, up to a number of rows. */
async function runWhole(operation: AdminOperation, asked: object, { context, rowsMax }: Whole): Promise<object> {
  const input = rowsMax === undefined ? asked : { ...asked, limit: rowsMax }
  const services = await servicesOf(operation, context)
  if (operation.query?.after === undefined) {
    return await operation.run(input, services)
  }
  const lists: Record<string, unknown[]> = {}
  let after: unknown
  do {
    const {
      has_more: _more,
      next,
      as_of: _time,
      ...rows
    } = Object(await operation.run(after === undefined ? input : { ...input, after }, services))
    for (const [name, page] of Object.entries<unknown[]>(rows)) {
      lists[name] = [...(lists[name] ?? []), ...page].slice(0, rowsMax)
    }
    const isFull = Object.values(lists).every(({ length }) => length === rowsMax)
    after = isFull ? undefined : (next ?? undefined)
  } while (after !== undefined)
  return lists
}

/** Only an operation that writes asks AWS who runs the command. */
async function servicesOf({ method }: AdminOperation, context: AdminContext) {
  return {
    ...(method === 'GET' ? {} : { actor: await context.actor() }),
    session: undefined,
    nowMilliseconds: Date.now,
    verifications: undefined,
    summary: () => Promise.reject(new TypeError('no command shows a summary')),
    warn: context.warn,
    table: await context.table(),
    config: () => readDeployedConfig(context),
    figures: (channels: readonly string[], now: number) => readFigures(context, channels, now),
    tenants: once(async () => ({ asOf: Date.now(), tenants: await listTenants(await context.table()) })),
    checkModels: async (models: readonly string[] | null | undefined) => {
      for (const warning of await unknownModels(context, models ?? null)) {
        context.warn(warning)
      }
    },
  } as Parameters<AdminOperation['run']>[1]
}

/**
 * One warning per model that the deployed configuration does not have. The next deployment may add the model, so it is not an error.
 * Empty if the configuration cannot be read.
 */
export async function unknownModels(
  context: Parameters<typeof readDeployedConfig>[0],
  models: readonly string[] | null,
): Promise<string[]> {
  if (models === null) {
    return []
  }
  const config = await readDeployedConfig(context).catch(() => undefined)
  const known = config?.models.map(({ id }) => id) ?? models
  return models
    .filter((model) => !known.includes(model))
    .map((model) => {
      const nearest = nearestName(model, known)
      return `the configuration has no model ${model}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}

function formatFields(output: object): string {
  const cell = (value: unknown) => (typeof value === 'string' || value === null ? value : JSON.stringify(value))
  return formatTable(
    [],
    Object.entries(output)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, cell(value)]),
  )
}
