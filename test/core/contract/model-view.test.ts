import { expect, it } from '@jest/globals'
import { modelView } from '#core/contract/model-view.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

it('modelView shows the fields of the interface and nothing of the configuration', () => {
  for (const model of shippedConfig.models) {
    const { id, created, owned_by } = model
    expect(modelView(model)).toStrictEqual({ id, object: 'model', created, owned_by })
  }
})
