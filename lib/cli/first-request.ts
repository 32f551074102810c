import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { LocalHost } from '#local/local-host.ts'

type Model = GatewayConfig['models'][number]

/** A request that needs nothing but a prompt; undefined for a model that needs a reference. */
function requestOf(model: Model): { readonly path: string; readonly body: object } | undefined {
  const prompt = 'a paper city lights up at night'
  switch (model.kind) {
    case 'video':
      return model.images.min + model.videos.min > 0
        ? undefined
        : { path: '/v1/video/generations', body: { model: model.id, prompt } }
    case 'chat':
      return { path: '/v1/chat/completions', body: { model: model.id, messages: [{ role: 'user', content: 'Hello' }] } }
    case 'image':
      return { path: '/v1/images/generations', body: { model: model.id, prompt } }
    case 'embedding':
      return { path: '/v1/embeddings', body: { model: model.id, input: 'Hello' } }
    default:
      return model satisfies never
  }
}

/** A command that makes a first request of the configuration's own models: a video if one needs no reference, else what there is. */
export function firstRequest({ url, key, models }: Pick<LocalHost, 'url' | 'key' | 'models'>): string {
  // A video model that takes no references at all has no surprises.
  const references = (model: Model) => (model.kind === 'video' ? model.images.max + model.videos.max : 0)
  const simplest = models.toSorted((left, right) => references(left) - references(right))
  const byKind = ['video', 'chat', 'image', 'embedding'].flatMap((kind) =>
    simplest.filter((model) => model.kind === kind),
  )
  const request = byKind.map(requestOf).find((each) => each !== undefined)
  return request === undefined
    ? `curl -s ${url}/v1/models -H 'Authorization: Bearer ${key}'`
    : `curl -s ${url}${request.path} -H 'Authorization: Bearer ${key}' \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(request.body)}'`
}
