import { describe, expect, it } from '@jest/globals'
import { parseVideoJobRequest } from '#core/api/video-job-request.ts'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { RESOLUTIONS } from '#core/catalogue/parameters.ts'
import { FAMILY_A_ROWS, FAMILY_B_ROWS, MODEL_ROWS, type ModelRow, smallestBody, urls } from '../interface-tables.ts'
import { issuesOf, shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

function parse(body: unknown, { catalogue = shippedCatalogue, allowedModels = null as string[] | null } = {}) {
  return parseVideoJobRequest(body, { catalogue, allowedModels })
}

const isEdit = (row: ModelRow) => row.id.endsWith('video-edit')

describe.each(MODEL_ROWS)('$id', (row) => {
  it('fills in every default', () => {
    expect(parse({ ...smallestBody(row), unknown_field: { nested: true } })).toStrictEqual({
      model: row.id,
      prompt: 'a paper city',
      duration: 5,
      resolution: '720P',
      aspect_ratio: '16:9',
      generate_audio: row.audioDefault,
      watermark: true,
      image_urls: urls(row.images[0]),
      video_urls: urls(row.videos[0], 'video'),
      audio_urls: [],
    })
  })

  it.each([3, 10, 11, 15])('takes %i seconds exactly when its row does', (duration) => {
    const body = { ...smallestBody(row), duration }
    if (isEdit(row) || duration <= row.maxSeconds) {
      expect(parse(body).duration).toBe(duration)
    } else {
      const message = `\`duration\` must be from 3 to ${row.maxSeconds} seconds for ${row.id}`
      expect(issuesOf(() => parse(body))).toStrictEqual([{ path: 'duration', message }])
    }
  })

  it('names its own seconds and resolutions where no model takes a value', () => {
    const seconds = isEdit(row) ? 15 : row.maxSeconds
    expect(issuesOf(() => parse({ ...smallestBody(row), duration: 20, resolution: '4K' }))).toStrictEqual([
      {
        path: 'duration',
        message: expect.stringMatching(
          `must be an integer from 3 to ${seconds}, in seconds${isEdit(row) ? '' : ', for'}`,
        ),
      },
      { path: 'resolution', message: expect.stringContaining(`for ${row.id}`) },
    ])
  })

  it.each(RESOLUTIONS)('takes %s exactly when its row does', (resolution) => {
    const body = { ...smallestBody(row), resolution }
    if (row.resolutions.includes(resolution)) {
      expect(parse(body).resolution).toBe(resolution)
    } else {
      const message = `\`resolution\` must be one of ${row.resolutions.join(', ')} for ${row.id}`
      expect(issuesOf(() => parse(body))).toStrictEqual([{ path: 'resolution', message }])
    }
  })

  it.each([0, 1, 2, 5, 6, 9, 10, 16])('takes %i reference images exactly when its row does', (count) => {
    const body = { ...smallestBody(row), image_urls: urls(count) }
    const [least, most] = row.images
    if (count >= least && count <= most) {
      expect(parse(body).image_urls).toHaveLength(count)
    } else {
      expect(issuesOf(() => parse(body))).toStrictEqual([
        {
          path: 'image_urls',
          message: expect.stringMatching(
            new RegExp(`^\`image_urls\` must (be left out for ${row.id}|hold .* urls? for ${row.id}, not ${count})$`),
          ),
        },
      ])
    }
  })

  it.each([0, 1, 2])('takes %i reference videos exactly when its row does', (count) => {
    const body = { ...smallestBody(row), video_urls: urls(count, 'video') }
    const [least, most] = row.videos
    if (count >= least && count <= most) {
      expect(parse(body).video_urls).toHaveLength(count)
    } else {
      expect(issuesOf(() => parse(body)).map(({ path }) => path)).toStrictEqual(['video_urls'])
    }
  })

  it.each([1, 3, 4])('takes %i reference audios beside an image exactly when its row does', (count) => {
    const images = { image_urls: urls(Math.max(1, row.images[0])) }
    const body = { ...smallestBody(row), ...(row.images[1] > 0 ? images : {}), audio_urls: urls(count, 'audio') }
    if (count <= row.audios[1]) {
      expect(parse(body).audio_urls).toHaveLength(count)
    } else {
      expect(issuesOf(() => parse(body)).map(({ path }) => path)).toContain('audio_urls')
    }
  })

  it('lets generate_audio, fps and aspect_ratio be wishes', () => {
    const body = { ...smallestBody(row), generate_audio: !row.audioDefault, fps: 30, aspect_ratio: '9:21' }
    expect(parse(body)).toMatchObject({ generate_audio: !row.audioDefault, fps: 30, aspect_ratio: '9:21' })
  })
})

describe('reference audio of a video job', () => {
  it.each(FAMILY_A_ROWS.filter((row) => row.audios[1] > 0))('is refused alone by $id', (row) => {
    expect(issuesOf(() => parse({ ...smallestBody(row), audio_urls: urls(1, 'audio') }))).toStrictEqual([
      { path: 'audio_urls', message: '`audio_urls` needs at least one of `image_urls` or `video_urls`' },
    ])
  })

  it('is refused by a model without it, which is not told to add an image', () => {
    expect(issuesOf(() => parse({ model: 'famB-1.1-t2v', prompt: 'x', audio_urls: urls(1, 'audio') }))).toStrictEqual([
      { path: 'audio_urls', message: '`audio_urls` must be left out for famB-1.1-t2v' },
    ])
  })

  it('is taken beside a reference video alone', () => {
    const body = { model: 'famA-2', prompt: 'x', audio_urls: urls(1, 'audio'), video_urls: urls(1, 'video') }
    expect(parse(body).audio_urls).toHaveLength(1)
  })
})

describe('the direct route of a video job', () => {
  const withoutDirect = createCatalogue({
    ...shippedConfig,
    channels: shippedConfig.channels.filter((channel) => !('route' in channel && channel.route === 'direct')),
  })

  it.each([
    ['audio_urls', { image_urls: urls(1), audio_urls: urls(1, 'audio') }],
    ['video_urls', { video_urls: urls(1, 'video') }],
  ])('is needed for %s of family A', (path, references) => {
    const body = { model: 'famA-2', prompt: 'x', ...references }
    expect(parse(body)).toMatchObject(references)
    expect(issuesOf(() => parse(body, { catalogue: withoutDirect }))).toStrictEqual([
      {
        path,
        message: `\`${path}\` must be left out for famA-2: no channel of this model takes reference audio or video`,
      },
    ])
  })

  it('is not needed for text and images of family A, nor for edits of family B', () => {
    expect(parse({ model: 'famA-2', prompt: 'x', image_urls: urls(9) }, { catalogue: withoutDirect })).toBeDefined()
    const edit = { model: 'famB-1.0-video-edit', prompt: 'x', video_urls: urls(1, 'video') }
    expect(parse(edit, { catalogue: withoutDirect })).toBeDefined()
  })
})

describe('parseVideoJobRequest for a model that a key does not see', () => {
  const disabled = createCatalogue({
    ...shippedConfig,
    models: shippedConfig.models.map((model) => (model.id === 'famA-2' ? { ...model, enabled: false } : model)),
  })
  const unserved = createCatalogue({ ...shippedConfig, channels: [] })
  const message = '`model` is unknown: GET /v1/models lists the models that this key may use'
  const unknown = [{ path: 'model', message }]

  it.each([
    ['unknown', 'nothing', {}],
    ['named like a member of every object', 'constructor', {}],
    ['empty', '', {}],
    ['half of a surrogate pair', '\ud800', {}],
    ['outside of the list of the key', 'famA-2', { allowedModels: ['famA-2-fast'] }],
    ['seen by a key that may use none', 'famA-2', { allowedModels: [] }],
    ['disabled', 'famA-2', { catalogue: disabled }],
    ['without a channel', 'famA-2', { catalogue: unserved }],
  ])('is refused with the same words when it is %s', (_, model, context) => {
    expect(issuesOf(() => parse({ model, prompt: 'x' }, context))).toStrictEqual(unknown)
  })

  it('does not hide a model on the list of the key', () => {
    expect(parse({ model: 'famA-2', prompt: 'x' }, { allowedModels: ['famA-2'] }).model).toBe('famA-2')
  })
})

describe('the tables of video models', () => {
  it('hold every video model of the shipped configuration', () => {
    const shipped = shippedConfig.models.filter((model) => model.kind === 'video').map((model) => model.id)
    expect([...FAMILY_A_ROWS, ...FAMILY_B_ROWS].map((row) => row.id).toSorted()).toStrictEqual(shipped.toSorted())
  })
})

describe('parseVideoJobRequest, reading', () => {
  function parse(members: object, model = 'famA-2') {
    const context = { catalogue: shippedCatalogue, allowedModels: null }
    return parseVideoJobRequest({ model, prompt: 'a paper city', ...members }, context)
  }

  const LINK_MESSAGE = 'each reference must be an http or https url of at most 8192 characters'
  const IMAGE_MESSAGE =
    'each reference image must be an http or https url of at most 8192 characters, or data:image/...;base64'

  describe('references', () => {
    it.each([
      'https://media.example.com/a.png?x=1#y',
      'http://media.example.com/a.png',
      'HTTPS://MEDIA.EXAMPLE.COM/A.PNG',
      'http://127.0.0.1:9400/a.png',
      'https://media.example.com/bild-ü.png',
    ])('%s is a link for every kind', (link) => {
      const references = { image_urls: [link], video_urls: [link], audio_urls: [link] }
      expect(parse(references)).toMatchObject(references)
    })

    it.each(['data:image/png;base64,iVBORw0KGgo=', 'data:image/svg+xml;base64,AAAA', 'DATA:IMAGE/PNG;BASE64,AAAA'])(
      '%s is an image, and no video or audio',
      (url) => {
        expect(parse({ image_urls: [url] }).image_urls).toStrictEqual([url])
        expect(issuesOf(() => parse({ video_urls: [url] }))).toStrictEqual([
          { path: 'video_urls.0', message: LINK_MESSAGE },
        ])
        expect(issuesOf(() => parse({ image_urls: urls(1), audio_urls: [url] }))).toStrictEqual([
          { path: 'audio_urls.0', message: LINK_MESSAGE },
        ])
      },
    )

    it('take an image of three megabytes', () => {
      const url = `data:image/png;base64,${'A'.repeat(3_000_000)}`
      expect(parse({ image_urls: [url] }).image_urls).toStrictEqual([url])
    })

    it.each([
      '',
      'media.example.com/a.png',
      '//media.example.com/a.png',
      'ftp://media.example.com/a.png',
      'file:///etc/passwd',
      'https://',
      'https://media.example.com/a b.png',
      ' https://media.example.com/a.png',
      'https://media.example.com/\ud800',
      `https://media.example.com/${'a'.repeat(8192)}`,
      'data:video/mp4;base64,AAAA',
      'data:image/png,AAAA',
      'data:image/png;base64,',
      'data:image/png;base64,A A',
      'data:image/png;base64,AAAA\n',
      null,
      5,
    ])('refuse %j', (url) => {
      expect(issuesOf(() => parse({ image_urls: [url] }))).toStrictEqual([
        { path: 'image_urls.0', message: IMAGE_MESSAGE },
      ])
    })

    it.each(['image_urls', 'video_urls', 'audio_urls'])('%s must be a list', (path) => {
      for (const value of [null, 'https://media.example.com/a', { 0: 'https://media.example.com/a' }]) {
        expect(issuesOf(() => parse({ [path]: value }))).toStrictEqual([
          { path, message: `\`${path}\` must be an array of urls` },
        ])
      }
    })

    it.each(['image_urls', 'video_urls', 'audio_urls'])(
      '%s is refused for a million wrong entries with one issue',
      (path) => {
        const message = `\`${path}\` must hold at most 16 urls`
        expect(issuesOf(() => parse({ [path]: new Array(1_000_000).fill(1) }))).toStrictEqual([{ path, message }])
      },
    )
  })

  describe('image_url', () => {
    const [legacy = '', other = ''] = urls(2)

    it.each([{}, { image_urls: [] }])('becomes image_urls[0] beside %j', (members) => {
      const request = parse({ ...members, image_url: legacy }, 'famB-1.1-i2v')
      expect(request.image_urls).toStrictEqual([legacy])
      expect(request).not.toHaveProperty('image_url')
    })

    it.each([legacy, 'nonsense', 5, null, ''])('%j is ignored when image_urls holds one', (image_url) => {
      expect(parse({ image_url, image_urls: [other] }, 'famB-1.1-i2v').image_urls).toStrictEqual([other])
    })

    it('is no image when it is empty', () => {
      expect(parse({ image_url: '' }).image_urls).toStrictEqual([])
    })

    it('counts for the model like any other image', () => {
      expect(issuesOf(() => parse({ image_url: legacy }, 'famB-1.1-t2v'))).toStrictEqual([
        { path: 'image_urls', message: '`image_urls` must be left out for famB-1.1-t2v' },
      ])
    })

    it.each(['nonsense', 5, null])('%j is refused when it counts', (image_url) => {
      expect(issuesOf(() => parse({ image_url }))).toStrictEqual([
        { path: 'image_url', message: '`image_url` must be an http or https url, or data:image/...;base64' },
      ])
    })
  })

  describe('callback_url', () => {
    it.each(['https://hooks.example.com/cb', 'https://a.partner.example/'])('%s is kept as it came', (callback_url) => {
      expect(parse({ callback_url }).callback_url).toBe(callback_url)
    })

    it.each([
      [
        'https://elsewhere.example.com/cb',
        '`callback_url` must have a host on the allowlist of the gateway: ask its operator to add the host',
      ],
      ['http://hooks.example.com/cb', expect.stringMatching(/^`callback_url` must be an https url/)],
      ['', expect.stringMatching(/^`callback_url` /)],
      [5, '`callback_url` must be a string: an https url'],
      [null, '`callback_url` must be a string: an https url'],
    ])('%j is refused', (callback_url, message) => {
      expect(issuesOf(() => parse({ callback_url }))).toStrictEqual([{ path: 'callback_url', message }])
    })
  })
})
