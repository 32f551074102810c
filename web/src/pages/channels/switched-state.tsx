import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { TwoLines } from '../../components/two-lines.tsx'

type Switched = { readonly switched_by: string | null; readonly switched_at: number | null }

/** The state of a channel or a model, and who has switched it. */
export function SwitchedState({ row, state }: { readonly row: Switched; readonly state: string }) {
  const status = <Status state={state} />
  return row.switched_by === null ? (
    status
  ) : (
    <TwoLines
      main={status}
      below={
        <>
          by {row.switched_by}, <Time at={row.switched_at} />
        </>
      }
    />
  )
}
