import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { tableOfFigures } from './figures-table.ts'
import { soak } from './soak.ts'

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '30' },
    seed: { type: 'string' },
    light: { type: 'boolean', default: false },
  },
})
const [nights, seed] = [Number(values.nights), Number(values.seed ?? randomInt(1_000_000_000))]
if (!Number.isInteger(nights) || nights < 1 || !Number.isInteger(seed)) {
  throw new Error('--nights is a whole number from 1, --seed a whole number')
}

const began = performance.now()
process.stderr.write(`${nights} nights of seed ${seed}\n`)
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
const soaked = await soak({
  ...{ nights, seed, light: values.light, stop: stop.signal },
  onNight: ({ plan, struck, broken }, { calls, idleCalls, objects }) => {
    const faults = plan.faults.map(({ kind }) => kind).join(', ')
    const idle = idleCalls === null ? '' : `, idle ${idleCalls}`
    const what = [faults, ...struck, broken.length > 0 ? `not whole (${broken.length})` : ''].filter(
      (text) => text !== '',
    )
    process.stderr.write(`night ${plan.night}: ${calls} calls${idle}, ${objects} objects. ${what.join('; ')}\n`)
  },
})
process.stdout.write(`${tableOfFigures(soaked)}\n${Math.round((performance.now() - began) / 1000)} s\n`)
