import type { Figure } from './figures.ts'
import { changedShare, latencyMs, type MessagesMeasured, type MessagesSize, measureMessages } from './messages.ts'
import type { MessagesAnswer } from './messages-worker.ts'
import type { How } from './sync-parts.ts'

const leastOfLinear = 0.9
const mostMegabytes = 300

/**
 * Messages of a size: how much faster several shards at a time are than one, memory, and what a night asks for. It is
 * measured once, whatever the number of rounds: the first read of one shard at a time takes minutes.
 */
export function messagesAt(size: MessagesSize) {
  return async ({ profile }: How): Promise<Figure[]> => {
    const measured = await measureMessages(size, profile)
    const { platform, speeds, worker } = measured
    for (const { received } of [...speeds.values(), worker]) {
      if (received !== platform.messages) throw new Error(`${received} of ${platform.messages} messages were read`)
    }
    const told = (count: number) => count.toLocaleString('en-US')
    const part = `messages: ${told(size.sessions)} sessions, ${told(platform.messages)} messages`
    return [...speedsOf(measured), ...memoryOf(measured), ...nightsOf(measured)].map((figure) => ({ part, ...figure }))
  }
}

type Unnamed = Omit<Figure, 'part'>

function speedsOf({ speeds }: MessagesMeasured): Unnamed[] {
  const one = speeds.get(1)
  return [...speeds].flatMap(([atOnce, answer]) => {
    const what = `first read, ${atOnce} at a time at ${latencyMs} ms (${answer.seconds.toFixed(1)} s)`
    const core = { value: answer.cpuSeconds / answer.seconds, unit: 'share', aim: null }
    const figures: Unnamed[] = [{ measure: `${what}: share of one core`, ...core }]
    if (one && one !== answer) {
      const shareOf = (seconds: number) => one.seconds / seconds / atOnce
      const [value, most] = [shareOf(answer.seconds), Math.min(1, shareOf(answer.cpuSeconds))]
      figures.push({ measure: `${what}: speed-up against linear`, value, unit: 'share', aim: { least: leastOfLinear } })
      figures.push({
        measure: `${what}: what its CPU on one core allows of that`,
        value: most,
        unit: 'share',
        aim: null,
      })
    }
    return figures
  })
}

function memoryOf({ worker, speeds }: MessagesMeasured): Unnamed[] {
  const peakOf = (measure: string, { peakMegabytes }: MessagesAnswer): Unnamed => ({
    measure: `${measure}: peak memory of reading`,
    value: peakMegabytes.reading,
    unit: 'MB',
    aim: { most: mostMegabytes },
  })
  return [
    peakOf('a worker that reads all shards in turn', worker),
    ...[...speeds].map(([atOnce, answer]) => ({ ...peakOf(`${atOnce} at a time`, answer), aim: null })),
    { measure: 'publishing all messages: peak memory', value: worker.peakMegabytes.publishing, unit: 'MB', aim: null },
  ]
}

function nightsOf({ platform, worker, unchanged, changed }: MessagesMeasured): Unnamed[] {
  const miscounted = [worker, unchanged, changed].filter(({ notices }) => notices.includes('lists_miscounted')).length
  const changedNight = `${changedShare * 100} % changed`
  return [
    { measure: 'unchanged: requests for messages', value: unchanged.asked, unit: 'requests', aim: { most: 0 } },
    { measure: 'unchanged: time of messages', value: unchanged.seconds, unit: 's', aim: null },
    {
      measure: `${changedNight}: requests for messages (${changed.asked}) against lists that changed`,
      value: changed.asked / platform.changedLists,
      unit: 'ratio',
      aim: { most: 1 },
    },
    { measure: `${changedNight}: time of messages`, value: changed.seconds, unit: 's', aim: null },
    {
      measure: `${changedNight}: peak memory of reading`,
      value: changed.peakMegabytes.reading,
      unit: 'MB',
      aim: { most: mostMegabytes },
    },
    { measure: 'reads with lists of another size than said', value: miscounted, unit: 'reads', aim: { most: 0 } },
  ]
}
