import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname
function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
function find(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: root }).sort()
}

const pages = find('*.md', 'docs/**/*.md', 'test/**/*.md')
const sources = find('*.ts', '{lib,functions,infra,test,bench}/**/*.ts')

/** Each match of a pattern's first group in some files, with the file. */
function mentions(files: readonly string[], pattern: RegExp): { file: string; text: string }[] {
  return files.flatMap((file) => [...read(file).matchAll(pattern)].map(([, text = '']) => ({ file, text })))
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^( *)```.*?^\1```$/gms, '')
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isBroken({ file, text }: { file: string; text: string }): boolean {
  const [path = '', anchor] = text.split('#')
  const target = path === '' ? file : join(dirname(file), path)
  return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
}

describe('a case of production in the title of a test', () => {
  // Looks like the id of a case, and is none.
  const others = new Set(['UTF-16'])
  const named = mentions(sources, /\b([A-Z][A-Z0-9]{1,5}-\d{2})\b/g).filter(({ text }) => !others.has(text))
  const explained = mentions(['test/README.md'], /^\| ([A-Z][A-Z0-9]{1,5}-\d{2}) \|/gm).map(({ text }) => text)

  it('is explained in test/README.md', () => {
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(({ text }) => !explained.includes(text))).toEqual([])
  })

  it('is explained once, and not without a test', () => {
    expect(explained.filter((id, at) => explained.indexOf(id) !== at)).toEqual([])
    expect(explained.filter((id) => !named.some(({ text }) => text === id))).toEqual([])
  })
})

describe('a section of what is known of the API', () => {
  const sections = mentions(['docs/platform.md'], /^#{2,3} (\d+(?:\.\d+)?)[. ]/gm).map(({ text }) => text)
  const files = [...pages.filter((page) => page.startsWith('docs/')), ...find('{lib,functions,infra}/**/*.ts')]

  it('is a heading of docs/platform.md', () => {
    const named = mentions(files, /§(\d+(?:\.\d+)?)/g)
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter(({ text }) => !sections.includes(text))).toEqual([])
  })

  it('is linked at least once by a page that names one', () => {
    const others = pages.filter((page) => page !== 'docs/platform.md' && read(page).includes('§'))
    expect(others.filter((page) => !/\]\([^)]*platform\.md(#[^)]*)?\)/.test(read(page)))).toEqual([])
  })

  it('is never a section of a text that is not here', () => {
    expect(mentions([...pages, ...sources], /((?:design|spec)(?:ification)? §\d)/gi)).toEqual([])
  })
})

describe('what a text points at', () => {
  it('is there: links of pages, with their anchors', () => {
    const links = pages.flatMap((file) =>
      [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, text = '']) => ({ file, text })),
    )
    const own = links.filter(({ text }) => !/^[a-z]+:/.test(text))
    expect(own.length).toBeGreaterThan(50)
    expect(own.filter(isBroken)).toEqual([])
  })

  it('is there: paths that pages name', () => {
    const paths = mentions(pages, /`((?:docs|lib|functions|infra|test|bench)\/[\w./-]*)`/g)
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter(({ text }) => !existsSync(join(root, text)))).toEqual([])
  })

  it('is there: pages that the source names', () => {
    const named = mentions(sources, /\b(docs\/[\w/-]+\.md)\b/g)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(({ text }) => !existsSync(join(root, text)))).toEqual([])
  })
})

/** The sentences of a page: no tables, no code, no headings. A code span is a word, an item of a list ends a sentence. */
function sentencesOf(markdown: string): string[] {
  return withoutCode(markdown)
    .replaceAll(/^\s*[|#].*$/gm, '')
    .replaceAll(/^\s*(?:[-*]|\d+\.)\s+/gm, '\n\n')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split(/\n\s*\n/)
    .flatMap((block) => block.trim().split(/(?<=[.!?][)"*]*)\s+/))
    .filter((sentence) => wordsOf(sentence) > 0)
}

function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

describe('prose', () => {
  it('is cut into sentences', () => {
    const sample =
      '# Head\n\nOne two `a b` [three](x y.md). Four!\n\n| a | b |\n\n- five six\n  seven\n\n```sh\nnpm ci.\n```\n'
    expect(sentencesOf(sample).map(wordsOf)).toEqual([4, 1, 3])
  })

  it.each(pages)('of %s has at most 20 words a sentence, on average', (page) => {
    const sentences = sentencesOf(read(page))
    const words = sentences.reduce((sum, sentence) => sum + wordsOf(sentence), 0)
    expect(words / sentences.length).toBeLessThanOrEqual(20)
  })
})

describe('README.md', () => {
  it('is read in a few minutes: at most 1,300 words', () => {
    expect(read('README.md').trim().split(/\s+/).length).toBeLessThanOrEqual(1_300)
  })

  it('has the two commands to begin with', () => {
    expect(read('README.md')).toMatch(/^npm ci && npm run demo\b/m)
    expect(read('README.md')).toMatch(/^npm ci && npm test\b/m)
  })

  it('names each folder of lib, and none that is not there', () => {
    const named = mentions(['README.md'], /^(lib\/[a-z]+) /gm).map(({ text }) => text)
    expect(named.toSorted()).toEqual(
      readdirSync(join(root, 'lib'))
        .map((name) => `lib/${name}`)
        .toSorted(),
    )
  })
})
