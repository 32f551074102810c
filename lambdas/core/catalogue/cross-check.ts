import type { Channel } from './channel.ts'
import type { Model, VideoModel } from './model.ts'
import { findVideoPrice } from './video-price.ts'

export type ConfigIssue = { path: (string | number)[]; message: string }

/** What no single row of the configuration shows: references between rows, and prices without gaps. */
export function crossCheck(config: { channels: readonly Channel[]; models: readonly Model[] }): ConfigIssue[] {
  return [
    ...duplicates(config.channels, 'channels'),
    ...duplicates(config.models, 'models'),
    ...config.channels.flatMap((channel, index) => channelModels(channel, index, config.models)),
    ...config.models.flatMap((model, index) => (model.kind === 'video' ? videoModelIssues(model, index) : [])),
  ]
}

function duplicates(rows: readonly { id: string }[], section: string): ConfigIssue[] {
  const seen = new Set<string>()
  return rows.flatMap((row, index) => {
    const isRepeated = seen.has(row.id)
    seen.add(row.id)
    return isRepeated
      ? [{ path: [section, index, 'id'], message: `"${row.id}" is used twice; every id is unique` }]
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

function videoModelIssues(model: VideoModel, index: number): ConfigIssue[] {
  const at = (...path: (string | number)[]) => ['models', index, ...path]
  const issues: ConfigIssue[] = []
  if (model.durations.min > model.durations.max) {
    issues.push({ path: at('durations'), message: 'min is above max' })
  }
  if (!model.resolutions.includes(model.default_resolution)) {
    issues.push({
      path: at('default_resolution'),
      message: `${model.default_resolution} is not in resolutions; allowed: ${model.resolutions.join(', ')}`,
    })
  }
  if (model.videos.max > 0 && model.input_video_seconds_max === 0) {
    issues.push({
      path: at('input_video_seconds_max'),
      message: 'a model that takes a reference video needs its longest length, or the estimate is no upper bound',
    })
  }
  return [...issues, ...unpricedCells(model).map((message) => ({ path: at('prices'), message }))]
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
