import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findChromium, launch, withPage } from './browser.ts'
import { pages } from './pages.ts'

// Makes the pictures of the pages that the README shows: `node test/pages/pictures.ts`.
const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
const size = { width: 1200, height: 1000 }

const { missing } = findChromium()
if (missing !== null) throw new Error(missing)
mkdirSync(folder, { recursive: true })
const browser = await launch()
for (const { name, usual } of pages) {
  await withPage(browser, { html: await usual(), width: size.width }, async ({ tab }) => {
    await tab.setViewportSize(size)
    const png = await tab.screenshot()
    writeFileSync(`${folder}${name}.png`, png)
    process.stdout.write(`docs/pictures/${name}.png: ${Math.round(png.byteLength / 1000)} KB\n`)
  })
}
await browser.close()
