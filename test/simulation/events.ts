import type { BudgetOperators } from './budget-operators.ts'
import type { Clients } from './clients.ts'
import { pick } from './faults.ts'
import type { Operators } from './operators.ts'
import type { RelayClients } from './relay-clients.ts'
import type { World } from './world.ts'

type Actors = {
  readonly world: World
  readonly clients: Clients
  readonly operators: Operators
  readonly budgets: BudgetOperators
  readonly relay: RelayClients | undefined
}
type Event = () => void

const JUMPS_MILLISECONDS = [1_000, 60_000, 660_000]

/** What clients, operators or time do next. */
export function drawEvent(actors: Actors): Event {
  const { world, relay } = actors
  return pick(world.scheduler, relay === undefined ? eventsOfJobs(actors) : eventsOfBoth({ ...actors, relay }))
}

function eventsOfJobs({ world, clients, operators }: Actors): readonly Event[] {
  return [
    ...times(8, () => clients.create()),
    ...times(3, () => clients.deleteOrCancel()),
    ...times(2, () => stopExecution(world)),
    ...eventsOfOperators({ world, operators }),
  ]
}

function eventsOfBoth({
  world,
  clients,
  operators,
  budgets,
  relay,
}: Actors & { readonly relay: RelayClients }): readonly Event[] {
  return [
    ...times(12, () => relay.burst()),
    ...times(3, () => clients.create()),
    () => clients.deleteOrCancel(),
    () => relay.killProcess(),
    () => relay.freezeProcess(),
    () => world.storms?.begin(),
    ...times(2, () => operators.changeKey()),
    ...times(2, () => operators.newKey()),
    ...times(2, () => budgets.setTenantBudget()),
    ...times(3, () => budgets.setKeyBudget()),
    () => budgets.rotateKey(),
    ...times(2, () => budgets.correct()),
    ...times(2, () => operators.grant()),
    ...eventsOfOperators({ world, operators }),
  ]
}

function eventsOfOperators({ world, operators }: Pick<Actors, 'world' | 'operators'>): readonly Event[] {
  return [
    () => operators.revokeKey(),
    () => operators.newKey(),
    () => operators.grant(),
    () => world.deploy(),
    () => world.scheduler.jump(pick(world.scheduler, JUMPS_MILLISECONDS)),
    () => world.reconcile(),
  ]
}

function times(count: number, event: Event): readonly Event[] {
  return Array.from({ length: count }, () => event)
}

function stopExecution({ scheduler, executions }: World): void {
  if (executions.running.length > 0) {
    executions.stop(pick(scheduler, executions.running))
  }
}
