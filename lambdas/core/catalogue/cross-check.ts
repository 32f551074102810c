import type { Channel } from './channel.ts'
import type { ChatModel, EmbeddingModel, ImageModel, Model, VideoModel } from './model.ts'
import { findImagePrice, findVideoPrice, imagePriceTiers } from './price-rows.ts'

/** A problem of the configuration. */
export type ConfigIssue = { path: (string | number)[]; message: string }

/** Checks what the schema of a single row cannot: unique ids, references between rows, and prices without gaps. */
export function crossCheck(config: { channels: readonly Channel[]; models: readonly Model[] }): ConfigIssue[] {
  return [
    ...duplicates(config.channels, 'channels'),
    ...duplicates(config.models, 'models'),
    ...config.channels.flatMap((channel, index) => channelModels(channel, index, config.models)),
    ...config.models.flatMap((model, index) =>
      modelIssues(model).map(({ path, message }) => ({ path: ['models', index, ...path], message })),
    ),
  ]
}

function duplicates(rows: readonly { id: string }[], section: string): ConfigIssue[] {
  const seen = new Set<string>()
  return rows.flatMap((row, index) => {
    const isRepeated = seen.has(row.id)
    seen.add(row.id)
    return isRepeated
      ? [{ path: [section, index, 'id'], message: `"${row.id}" is used twice; every id must be unique` }]
      : []
  })
}

function channelModels(channel: Channel, index: number, models: readonly Model[]): ConfigIssue[] {
  return Object.keys(channel.models).flatMap((id) => {
    const path = ['channels', index, 'models', id]
    const model = models.find((candidate) => candidate.id === id)
    if (model === undefined) {
      return [{ path, message: `no model "${id}" in models; allowed: ${models.map((each) => each.id).join(', ')}` }]
    }
    const servesVideo = channel.provider !== 'openai'
    if ((model.kind === 'video') !== servesVideo) {
      return [{ path, message: `a ${channel.provider} channel cannot serve a model of kind ${model.kind}` }]
    }
    return []
  })
}

function modelIssues(model: Model): ConfigIssue[] {
  switch (model.kind) {
    case 'video':
      return videoModelIssues(model)
    case 'image':
      return imageModelIssues(model)
    case 'chat':
      return [...outputLimitIssues(model), ...billingIssues(model)]
    case 'embedding':
      return billingIssues(model)
    default:
      return model satisfies never
  }
}

function videoModelIssues(model: VideoModel): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  if (model.durations.min > model.durations.max) {
    issues.push({ path: ['durations'], message: 'min must be at most max' })
  }
  if (!model.resolutions.includes(model.default_resolution)) {
    issues.push({
      path: ['default_resolution'],
      message: `${model.default_resolution} is not in resolutions; allowed: ${model.resolutions.join(', ')}`,
    })
  }
  if (model.videos.max > 0 && model.input_video_seconds_max === 0) {
    issues.push({
      path: ['input_video_seconds_max'],
      message: 'a model that takes a reference video needs its longest length in seconds for the estimate',
    })
  }
  return [...issues, ...unpricedCells(model).map((message) => ({ path: ['prices'], message }))]
}

function unpricedCells(model: VideoModel): string[] {
  const audios = [true, false]
  const videoInputs = [...(model.videos.min === 0 ? [false] : []), ...(model.videos.max > 0 ? [true] : [])]
  const cells = model.resolutions.flatMap((resolution) =>
    audios.flatMap((audio) => videoInputs.map((videoInput) => ({ resolution, audio, videoInput }))),
  )
  return cells
    .filter((cell) => findVideoPrice(model.prices, cell) === undefined)
    .map((cell) => `no price for resolution ${cell.resolution}, audio ${cell.audio}, video_input ${cell.videoInput}`)
}

/**
 * Checks that each size at each quality has a price, and that each row is for a size and a quality of the model: after a typing
 * error another row would set the price. Paths begin at the model.
 */
export function imageModelIssues(model: ImageModel): ConfigIssue[] {
  const unpriced = imagePriceTiers(model)
    .filter((tier) => findImagePrice(model.prices, tier) === undefined)
    .map(({ size, quality }) => `no price for size ${size}${quality === undefined ? '' : `, quality ${quality}`}`)
  const unknown = model.prices.flatMap((row, index) => [
    ...rowIssues(['prices', index, 'size'], row.size, model.sizes),
    ...rowIssues(['prices', index, 'quality'], row.quality, model.qualities),
  ])
  return [...unknown, ...unpriced.map((message) => ({ path: ['prices'], message }))]
}

function rowIssues(path: (string | number)[], value: string, offered: readonly string[]): ConfigIssue[] {
  const allowed = ['any', ...offered]
  return allowed.includes(value) ? [] : [{ path, message: `not allowed; allowed: ${allowed.join(', ')}` }]
}

function outputLimitIssues({ default_max_output_tokens: fallback, max_output_tokens: most }: ChatModel): ConfigIssue[] {
  const message = `above max_output_tokens; allowed: 1 to ${most}`
  return fallback === undefined || fallback <= most ? [] : [{ path: ['default_max_output_tokens'], message }]
}

/** The form of a price row must match `billing`, because the form decides what is billed. */
function billingIssues({ billing, prices }: ChatModel | EmbeddingModel): ConfigIssue[] {
  const message = billing === 'token' ? 'billing token needs prices per million' : 'billing per_request needs one price'
  const others = [...prices.entries()].filter(([, row]) => 'price' in row !== (billing === 'per_request'))
  return others.map(([index]) => ({ path: ['prices', index], message }))
}
