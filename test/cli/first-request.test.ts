import { describe, expect, it } from '@jest/globals'
import { firstRequest } from '../../lib/cli/first-request.ts'
import { shippedConfig } from '../core/shipped-catalogue.ts'

const host = { url: 'http://127.0.0.1:8787', key: 'k' }
const modelsOf = (...ids: string[]) => shippedConfig.models.filter(({ id }) => ids.includes(id))

describe('the request that npm start prints', () => {
  it.each([
    [shippedConfig.models.map(({ id }) => id), '/v1/video/generations', 'famB-1.1-t2v'],
    [['famB-1.1-i2v', 'chat-default'], '/v1/chat/completions', 'chat-default'],
    [['text-embedding-3-small', 'image-v2'], '/v1/images/generations', 'image-v2'],
    [['text-embedding-3-small'], '/v1/embeddings', 'text-embedding-3-small'],
  ])('is for a model of the configuration that needs no reference: of %j', (ids, path, model) => {
    const command = firstRequest({ ...host, models: modelsOf(...ids) })
    expect(command).toContain(`curl -s http://127.0.0.1:8787${path} -H 'Authorization: Bearer k'`)
    expect(JSON.parse(command.split("-d '")[1]?.slice(0, -1) ?? '')).toMatchObject({ model })
  })

  it('lists the models where every one needs a reference', () => {
    expect(firstRequest({ ...host, models: modelsOf('famB-1.1-i2v') })).toContain('/v1/models -H')
  })
})
