import type { Browser } from 'playwright-core'

/** Good enough for letters of a page at a fraction of the bytes of a PNG. */
const QUALITY = 0.82

/** Encodes a PNG as WebP, by the browser that is there anyway. */
export async function encodeWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage()
  try {
    const url: string = await page.evaluate(`(async () => {
      const image = new Image()
      image.src = ${JSON.stringify(`data:image/png;base64,${png.toString('base64')}`)}
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
      canvas.getContext('2d').drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', ${QUALITY})
    })()`)
    return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
  } finally {
    await page.close()
  }
}
