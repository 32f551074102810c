/** The fields of a state that the diagram shows. */
type State = {
  readonly Type: string
  readonly Next?: string
  readonly End?: boolean
  readonly Default?: string
  readonly Choices?: readonly { readonly StringEquals?: string; readonly Next: string }[]
  readonly Catch?: readonly { readonly Next: string }[]
}

type Definition = { readonly StartAt: string; readonly States: Readonly<Record<string, State>> }

/** A definition in Amazon States Language as a fenced Mermaid diagram. */
export function stateDiagramBlock(definitionText: string): string {
  return `\`\`\`mermaid\n${stateDiagram(JSON.parse(definitionText))}\n\`\`\``
}

/**
 * The definition as a Mermaid diagram. A choice after a task is drawn as arrows of the task, labelled with the value that the
 * task returns. A state that only succeeds is drawn as the end. Tasks that fail to the same state are drawn in one box.
 */
export function stateDiagram({ StartAt, States }: Definition): string {
  const names = Object.keys(States).filter((name) => !['Choice', 'Succeed'].includes(States[name]?.Type ?? ''))
  const rescue = sharedRescue(States)
  const boxed = new Set(names.filter((name) => rescue !== undefined && isBoxed(name, rescue, States)))
  const arrows = names
    .flatMap((name) => arrowsOf(name, States))
    .filter(({ from, to, label }) => !(boxed.has(from) && to === rescue && [FAILED, 'fail'].includes(label)))
  const merged = merge(arrows)
  const isInside = ({ from, to }: MergedArrow) => boxed.has(from) && boxed.has(to)
  const titled = names.filter((name) => words(name) !== name)
  const titlesOf = (some: readonly string[]) => some.map((name) => `state "${words(name)}" as ${name}`)
  const box = [...titlesOf(titled.filter((name) => boxed.has(name))), ...merged.filter(isInside).map(arrowText)]
  const outside = [
    ...titlesOf(titled.filter((name) => !boxed.has(name))),
    ...(rescue === undefined ? [] : [`Box --> ${rescue}`]),
    `${END_POINT} --> ${StartAt}`,
    ...merged.filter((arrow) => !isInside(arrow)).map(arrowText),
  ]
  const boxLines =
    rescue === undefined
      ? []
      : [`state "any failure in this box goes to ${words(rescue)}" as Box {`, ...box.map((line) => `  ${line}`), '}']
  return ['stateDiagram-v2', ...['direction TB', ...boxLines, ...outside].map((line) => `  ${line}`)].join('\n')
}

const FAILED = 'failed'

/** Mermaid's sign for the beginning and the end. */
const END_POINT = '[*]'

/** The task that most tasks fail to; undefined if no task catches failures. */
function sharedRescue(states: Definition['States']): string | undefined {
  const targets = Object.values(states).flatMap(({ Catch = [] }) => Catch.map(({ Next }) => Next))
  const count = (name: string) => targets.filter((each) => each === name).length
  return targets.toSorted((left, right) => count(right) - count(left)).find((name) => states[name]?.Type === 'Task')
}

/** True for a task that fails to `rescue`, and for a wait before such a task. */
function isBoxed(name: string, rescue: string, states: Definition['States']): boolean {
  const { Type, Next = '', Catch = [] } = states[name] ?? { Type: '' }
  return Type === 'Wait' ? isBoxed(Next, rescue, states) : Catch.some((each) => each.Next === rescue)
}

type Arrow = { readonly from: string; readonly to: string; readonly label: string }
type MergedArrow = { readonly from: string; readonly to: string; readonly labels: string }

function arrowText({ from, to, labels }: MergedArrow): string {
  return `${from} --> ${to}${labels === '' ? '' : ` : ${labels}`}`
}

function arrowsOf(name: string, states: Definition['States']): Arrow[] {
  const { Next, End, Catch = [] } = states[name] ?? {}
  const onward = Next === undefined ? (End ? [{ to: END_POINT, label: '' }] : []) : waysOut(Next, states)
  const caught = Catch.map(({ Next: to }) => ({ to: target(to, states), label: FAILED }))
  return [...onward, ...caught].map((arrow) => ({ from: name, ...arrow }))
}

/** The next states, looking through a choice. */
function waysOut(next: string, states: Definition['States']): Omit<Arrow, 'from'>[] {
  const state = states[next]
  if (state?.Type !== 'Choice') {
    return [{ to: target(next, states), label: '' }]
  }
  const choices = (state.Choices ?? []).map(({ StringEquals = '', Next }) => ({
    to: target(Next, states),
    label: StringEquals,
  }))
  const to = state.Default === undefined ? undefined : target(state.Default, states)
  return to === undefined ? choices : [...choices, { to, label: to === END_POINT ? 'done' : '' }]
}

function target(name: string, states: Definition['States']): string {
  return states[name]?.Type === 'Succeed' ? END_POINT : name
}

/** Merges parallel arrows between two states into one. */
function merge(arrows: readonly Arrow[]): MergedArrow[] {
  const merged = new Map<string, { from: string; to: string; all: Set<string> }>()
  for (const { from, to, label } of arrows) {
    const known = merged.get(`${from} ${to}`) ?? { from, to, all: new Set<string>() }
    known.all.add(label)
    merged.set(`${from} ${to}`, known)
  }
  return [...merged.values()].map(({ from, to, all }) => ({
    from,
    to,
    labels: all.has('') ? '' : [...all].join(', '),
  }))
}

/** `WaitForChannel` becomes `Wait for channel`. */
function words(name: string): string {
  return name.replace(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
