import * as z from 'zod'
import { type Answer, type EndpointName, failure, json } from './answer.ts'
import { refuse } from './endpoints/sessions.ts'
import type { Fault, FaultBook } from './faults/book.ts'
import type { FaultRule } from './faults/rule.ts'
import { type ResourceName, resourceNames } from './options.ts'

/** What the platform holds at this moment. */
type SimulatorState = {
  step: number
  now: string
  /** Records that live now. */
  records: Record<ResourceName, number>
  limits: Record<string, number>
  faults: ReturnType<FaultBook['list']>
  /** Requests that were answered, by endpoint. */
  requests: Partial<Record<EndpointName, number>>
}

/** What the control paths can do: the simulator without its server. */
export type Controlled = {
  /** Moves the platform's clock by one step (24 hours by default): records change, appear and go. */
  advance(by?: { hours?: number }): { step: number; now: string }
  /** Sets a fault; @throws ZodError when the rule is none. */
  fault(rule: FaultRule): Fault
  faults(): ReturnType<FaultBook['list']>
  removeFault(id: string): boolean
  clearFaults(): void
  /** Sets a record to a value, or to a text that is sent as it is; a new id joins the end of the list. */
  put(resource: ResourceName, id: string, record: { value: unknown } | { text: string }): void
  /** Takes a record away; false when there was none. */
  remove(resource: ResourceName, id: string): boolean
  state(): SimulatorState
}

type Request = { method: string; path: string; body: unknown; text: string }

const Advance = z.object({ hours: z.number().positive().optional() })
const Resource = z.enum(resourceNames)

/**
 * The paths under /_simulator, for people with curl and for other processes. They need no key: the server listens on
 * loopback only.
 */
export function control(request: Request, simulator: Controlled): Answer {
  try {
    return answer(request, simulator)
  } catch (error) {
    if (error instanceof z.ZodError) return refuse(error)
    if (error instanceof URIError) return failure(400, 'bad_request', `the path ${request.path} is not encoded well`)
    throw error
  }
}

function answer({ method, path, body, text }: Request, simulator: Controlled): Answer {
  const [, what = '', first = '', second = ''] = path.slice(1).split('/').map(decodeURIComponent)
  switch (`${method} ${what}`) {
    case 'GET state':
      return json(200, simulator.state())
    case 'POST advance': {
      const { hours } = Advance.parse(body ?? {})
      return json(200, simulator.advance(hours === undefined ? {} : { hours }))
    }
    case 'GET faults':
      return json(200, { faults: simulator.faults() })
    case 'POST faults':
      return json(201, { id: simulator.fault(body as FaultRule).id })
    case 'DELETE faults':
      if (first === '') simulator.clearFaults()
      else if (!simulator.removeFault(first)) return failure(404, 'not_found', `no fault ${first}`)
      return json(200, { faults: simulator.faults() })
    case 'PUT records':
      // The text is taken as it is, so that a record can be broken in ways that JSON.stringify would repair.
      simulator.put(Resource.parse(first), second, { text })
      return json(200, { resource: first, id: second })
    case 'DELETE records':
      return simulator.remove(Resource.parse(first), second)
        ? json(200, { resource: first, id: second })
        : failure(404, 'not_found', `no record ${second} in ${first}`)
    default:
      return failure(404, 'not_found', `no ${method} ${path} here`)
  }
}
