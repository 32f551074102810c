/** What the drawing needs of a state of Amazon States Language. */
type State = {
  readonly Type: string
  readonly Next?: string
  readonly Default?: string
  readonly Choices?: readonly { readonly StringEquals?: string; readonly Next: string }[]
  readonly Catch?: readonly { readonly Next: string }[]
}

type Definition = { readonly StartAt: string; readonly States: Readonly<Record<string, State>> }

const BEGIN = '<!-- state machine: written by npm run diagram -->'
const END = '<!-- end of state machine -->'

/**
 * A page with the diagram of the definition between its two markers.
 * @throws TypeError for a page without them.
 */
export function withStateDiagram(page: string, definitionText: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin === -1 || end < begin) {
    throw new TypeError(`the page has no "${BEGIN}" with "${END}" behind it`)
  }
  const definition: Definition = JSON.parse(definitionText)
  return `${page.slice(0, begin + BEGIN.length)}\n\n\`\`\`mermaid\n${stateDiagram(definition)}\n\`\`\`\n\n${page.slice(end)}`
}

/**
 * The definition as a Mermaid diagram. A choice that follows a task is drawn as the task's own ways out, named by what the
 * task answered, and a state that only succeeds as the end. States that share a way out on failure stand in one box, which
 * has that way once.
 */
export function stateDiagram({ StartAt, States }: Definition): string {
  const names = Object.keys(States).filter((name) => !['Choice', 'Succeed'].includes(States[name]?.Type ?? ''))
  const rescue = sharedRescue(States)
  const boxed = new Set(names.filter((name) => rescue !== undefined && isBoxed(name, rescue, States)))
  const arrows = names
    .flatMap((name) => arrowsOf(name, States))
    .filter(({ from, to, label }) => !(boxed.has(from) && to === rescue && label === FAILED))
  const merged = merge(arrows)
  const isInside = ({ from, to }: MergedArrow) => boxed.has(from) && boxed.has(to)
  const titled = names.filter((name) => words(name) !== name)
  const titlesOf = (some: readonly string[]) => some.map((name) => `state "${words(name)}" as ${name}`)
  const box = [...titlesOf(titled.filter((name) => boxed.has(name))), ...merged.filter(isInside).map(arrowText)]
  const outside = [
    ...titlesOf(titled.filter((name) => !boxed.has(name))),
    ...(rescue === undefined ? [] : [`Box --> ${rescue}`]),
    `[*] --> ${StartAt}`,
    ...merged.filter((arrow) => !isInside(arrow)).map(arrowText),
  ]
  const boxLines =
    rescue === undefined
      ? []
      : [`state "what fails in here goes to ${words(rescue)}" as Box {`, ...box.map((line) => `  ${line}`), '}']
  return ['stateDiagram-v2', ...['direction TB', ...boxLines, ...outside].map((line) => `  ${line}`)].join('\n')
}

const FAILED = 'failed'

/** Where most tasks go that fail; undefined if none has a way out. */
function sharedRescue(states: Definition['States']): string | undefined {
  const targets = Object.values(states).flatMap(({ Catch = [] }) => Catch.map(({ Next }) => Next))
  const count = (name: string) => targets.filter((each) => each === name).length
  return targets.toSorted((left, right) => count(right) - count(left)).find((name) => states[name]?.Type === 'Task')
}

/** Tasks that go there when they fail, and waits, which cannot fail, before one of these. */
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
  const { Next, Catch = [] } = states[name] ?? {}
  const onward = Next === undefined ? [] : waysOut(Next, states)
  const caught = Catch.map(({ Next: to }) => ({ to: target(to, states), label: FAILED }))
  return [...onward, ...caught].map((arrow) => ({ from: name, ...arrow }))
}

/** Through a choice to what it leads to. */
function waysOut(next: string, states: Definition['States']): Omit<Arrow, 'from'>[] {
  const state = states[next]
  if (state?.Type !== 'Choice') {
    return [{ to: target(next, states), label: '' }]
  }
  const choices = (state.Choices ?? []).map(({ StringEquals = '', Next }) => ({
    to: target(Next, states),
    label: StringEquals,
  }))
  const otherwise = state.Default === undefined ? [] : [{ to: target(state.Default, states), label: 'done' }]
  return [...choices, ...otherwise]
}

function target(name: string, states: Definition['States']): string {
  return states[name]?.Type === 'Succeed' ? '[*]' : name
}

/** Several ways from one state to another are one arrow. */
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

/** `WaitForChannel` is `Wait for channel`. */
function words(name: string): string {
  return name.replace(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
