import type { InstallationInspection } from '../compose/doctor.ts'
import { messageOf } from '../core/errors.ts'
import type { Check } from './doctor-checks.ts'
import { time } from './output.ts'

type Finding = Omit<Check, 'what'>
type Ports = Omit<InstallationInspection, 'close'>

/** Checks what is around the streams: credit limits, the right to sign digests, and which alarms are red. */
export async function checkInstallation(ports: Ports): Promise<Check[]> {
  return [...(await checkLimits(ports)), ...(await checkSigning(ports)), ...(await checkAlarms(ports))]
}

async function checkLimits({ ledger, waiting, deadLetters, inbox }: Ports): Promise<Check[]> {
  const queued = async (look: () => Promise<number>) =>
    ok(`can be read; ${counted(await look(), 'message')} to be applied`)
  const checks = [
    ...(ledger ? [await check('limits ledger', async () => ledger().then(() => ok('can be read')))] : []),
    ...(waiting ? [await check('limits queue', () => queued(waiting))] : []),
    ...(deadLetters ? [await check('limits dead letters', async () => judgedLetters(await deadLetters()))] : []),
    ...(inbox ? [await check('limits inbox', async () => judgedFiles(await inbox()))] : []),
  ]
  if (checks.length > 0) return checks
  return [{ what: 'credit limits', state: 'info', detail: 'were not looked at: no variable LIMITS_* is set' }]
}

async function check(what: string, look: () => Promise<Finding>, otherwise: Check['state'] = 'fail'): Promise<Check> {
  try {
    return { what, ...(await look()) }
  } catch (error) {
    return { what, state: otherwise, detail: messageOf(error) }
  }
}

function ok(detail: string): Finding {
  return { state: 'ok', detail }
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

function judgedLetters(messages: number): Finding {
  if (messages === 0) return ok('can be read; none')
  const detail = `${counted(messages, 'message')} failed five times: platform-sync limits redrive tells why (docs/operations.md, limit-dead-letters)`
  return { state: 'warn', detail }
}

function judgedFiles(files: readonly { key: string; droppedAt: number }[]): Finding {
  const [oldest] = files
  if (!oldest) return ok('can be listed; no file waits for more than an hour')
  const detail = `${counted(files.length, 'file')} for more than an hour, ${oldest.key} since ${time(oldest.droppedAt)} (docs/operations.md, inbox-file-waits)`
  return { state: 'warn', detail }
}

/** Who may not sign can still read and verify; the functions have rights of their own. */
async function checkSigning({ maySign }: Ports): Promise<Check[]> {
  return maySign ? [await check('right to sign', async () => maySign().then(() => ok('is there')), 'warn')] : []
}

async function checkAlarms({ alarms }: Ports): Promise<Check[]> {
  const what = 'alarms'
  if (!alarms) {
    const detail =
      'were not looked at: emulators have none, and the name of an installation ends STATE_TABLE with -state'
    return [{ what, state: 'info', detail }]
  }
  try {
    const all = await alarms()
    if (all.length === 0) {
      return [
        { what, state: 'warn', detail: 'are not there: the stateless stack is not deployed, so that nothing runs' },
      ]
    }
    const red = all.filter(({ isRed }) => isRed)
    if (red.length === 0) return [{ what, ...ok(`none of ${all.length} is red`) }]
    return red.map(({ name, since, description }) => ({
      ...{ what: `alarm ${name}`, state: 'warn' },
      detail: `is red${since === null ? '' : ` since ${time(since)}`}: ${description}`,
    }))
  } catch (error) {
    // Whoever may not look at alarms can still sync.
    return [{ what, state: 'warn', detail: messageOf(error) }]
  }
}
