import { expect, it } from 'vitest'
import { snapshotPrices } from '#core/quota/price-snapshot.ts'
import { videoQuantityMax } from '#core/quota/video-quantity.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

it.each(shippedConfig.models.flatMap((model) => (model.kind === 'video' ? [[model.id, model] as const] : [])))(
  'snapshotPrices keeps billing, prices and bound of %s',
  (_, model) => {
    for (const videoInput of [false, true]) {
      expect(snapshotPrices(model, { videoInput })).toStrictEqual({
        billing: model.billing,
        prices: model.prices,
        quantityMax: videoQuantityMax(model, { videoInput }),
      })
    }
  },
)
