import { changeModelRequest, parseRequest } from '#core/admin/requests.ts'
import type { SwitchChange } from '#core/catalogue/switches.ts'
import { pathId } from './named-target.ts'
import { modelBody, requireConfigured, switchTogether } from './switched-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `PATCH /admin/v1/models/{model}`: every instance sees it within 15 seconds. */
export const changeModel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'model', 'model')
  const { disabled } = parseRequest(changeModelRequest, event.json)
  const config = requireConfigured(context, { kind: 'model', id })
  const isEnabledByConfiguration = config.models.some((model) => model.id === id && model.enabled)
  const target = { kind: 'model', id } as const
  const change: SwitchChange = disabled
    ? { ...target, action: 'disable' }
    : { ...target, action: 'enable', isEnabledByConfiguration }
  return { body: modelBody(id, await switchTogether(event, context, [change]), config) }
}
