import * as z from 'zod'
import type { Json } from '../core/json.ts'
import { checked, queryOf, segment, understood } from './checks.ts'
import { resource } from './fields.ts'
import { createHttpTransport, type HttpDeps } from './http.ts'
import { gapsOf } from './partial.ts'
import * as rules from './requests.ts'
import { Computer } from './schemas/computer.ts'
import { CreditLimitsResult } from './schemas/credit-limits.ts'
import { EnterpriseControlRevision } from './schemas/enterprise-controls.ts'
import { Message, MessageReceipt } from './schemas/message.ts'
import { OrganizationUser } from './schemas/organization-user.ts'
import { ReadinessReport } from './schemas/readiness-report.ts'
import { Session } from './schemas/session.ts'
import type { ApiRequest, CallOptions, Endpoint } from './transport.ts'

const pagination = resource(() => ({ hasMore: z.boolean(), nextCursor: z.string().nullish() }))
const ReadinessReports = resource(() => ({ reports: z.array(ReadinessReport) }))
const ControlHistory = resource(() => ({ changes: z.array(EnterpriseControlRevision), pagination }))
const Sessions = resource(() => ({ sessions: z.array(Session), pagination }))
const Messages = resource(() => ({ messages: z.array(Message), pagination }))
const Computers = resource(() => ({ computers: z.array(Computer) }))
const OrganizationUsers = resource(() => ({ users: z.array(OrganizationUser), pagination }))

/** Where a message lies. */
type MessagePath = { sessionId: string; messageId: string }

/**
 * The platform's API. All methods throw the errors of core/errors.ts: `RejectedError` (`bad_request`) before anything is
 * sent when an argument breaks a rule of §8, `FatalError` (`unexpected_body`) when a success has another shape.
 */
export type PlatformClient = ReturnType<typeof createPlatformClient>

/** The client for all endpoints of §4.2; their numbers stand at each method. */
export function createPlatformClient(deps: HttpDeps) {
  const send = createHttpTransport(deps)
  /** Sends a request and reads its answer by a schema. */
  const call = async <S extends z.ZodType>(schema: S, request: ApiRequest, options?: CallOptions) =>
    understood(schema, await send(request, options), `${request.method} ${request.endpoint.path}`)

  return {
    /** A page of a list as it is, as long as it does not say itself that it is partial: lib/platform/paging.ts reads it. */
    get: (
      endpoint: Endpoint,
      query: Record<string, string>,
      { read, ...options }: CallOptions & Pick<ApiRequest, 'read'> = {},
    ): Promise<Json> => send({ method: 'GET', endpoint, query, shortfall: gapsOf, ...(read ? { read } : {}) }, options),
    ...reads(call),
    ...writes(call),
  }
}

type CallApi = <S extends z.ZodType>(schema: S, request: ApiRequest, options?: CallOptions) => Promise<z.infer<S>>

function v0(path: `/${string}`): Endpoint {
  return { base: 'v0', path: `/api/v0${path}` }
}
const readiness: Endpoint = { base: 'app', path: '/api/organization/maturity-level-reports' }
function sessionPath(sessionId: string) {
  return v0(`/sessions/${segment(sessionId, 'sessionId')}`)
}
function messagesPath(sessionId: string) {
  return v0(`/sessions/${segment(sessionId, 'sessionId')}/messages`)
}

/** A GET whose parameters keep their rules. */
function read(endpoint: Endpoint, rule: z.ZodType<Record<string, string | number | undefined>>, query: unknown) {
  return { method: 'GET', endpoint, query: queryOf(checked(rule, query, `GET ${endpoint.path}`)) } as const
}

/** A page of a list, which may say itself that it is not whole. */
function readList(...of: Parameters<typeof read>): ApiRequest {
  return { ...read(...of), shortfall: gapsOf }
}

function reads(call: CallApi) {
  return {
    /** Endpoint 1. */
    listReadinessReports: async (query: rules.ReadinessQuery = {}, options?: CallOptions) =>
      call(ReadinessReports, readList(readiness, rules.ReadinessQuery, query), options),

    /** Endpoint 2. */
    listEnterpriseControlHistory: async (query: rules.ListQuery = {}, options?: CallOptions) =>
      call(ControlHistory, readList(v0('/organization/enterprise-controls/history'), rules.ListQuery, query), options),

    /** Endpoint 3. */
    listSessions: async (query: rules.SessionsQuery = {}, options?: CallOptions) =>
      call(Sessions, readList(v0('/sessions'), rules.SessionsQuery, query), options),

    /** Endpoint 5. */
    getSession: async (sessionId: string, query: rules.ComputerQuery = {}, options?: CallOptions) =>
      call(Session, read(sessionPath(sessionId), rules.ComputerQuery, query), options),

    /** Endpoint 7. */
    listMessages: async (sessionId: string, query: rules.MessagesQuery = {}, options?: CallOptions) =>
      call(Messages, readList(messagesPath(sessionId), rules.MessagesQuery, query), options),

    /** Endpoint 9. */
    getMessage: async (
      { sessionId, messageId }: MessagePath,
      query: rules.ComputerQuery = {},
      options?: CallOptions,
    ) => {
      const { path } = messagesPath(sessionId)
      const endpoint: Endpoint = { base: 'v0', path: `${path}/${segment(messageId, 'messageId')}` }
      return call(Message, read(endpoint, rules.ComputerQuery, query), options)
    },

    /** Endpoint 10. */
    listComputers: async (options?: CallOptions) =>
      call(Computers, { method: 'GET', endpoint: v0('/computers'), shortfall: gapsOf }, options),

    /** Endpoint 11. */
    listOrganizationUsers: async (query: rules.ListQuery = {}, options?: CallOptions) =>
      call(OrganizationUsers, readList(v0('/organization/users'), rules.ListQuery, query), options),
  }
}

function writes(call: CallApi) {
  return {
    /** Endpoint 4. Never repeated once it may have arrived. @throws FatalError `outcome_unknown`: look whether the session exists. */
    createSession: async (session: rules.NewSession, options?: CallOptions) => {
      const endpoint = v0('/sessions')
      const body = checked(rules.NewSession, session, `POST ${endpoint.path}`)
      return call(Session, { method: 'POST', endpoint, body }, options)
    },

    /** Endpoint 6. */
    updateSession: async (sessionId: string, change: rules.SessionChange, options?: CallOptions) => {
      const endpoint = sessionPath(sessionId)
      const body = checked(rules.SessionChange, change, `PATCH ${endpoint.path}`)
      return call(Session, { method: 'PATCH', endpoint, body }, options)
    },

    /** Endpoint 8. Never repeated once it may have arrived. @throws FatalError `outcome_unknown`: look whether the message exists. */
    addMessage: async (sessionId: string, message: rules.NewMessage, options?: CallOptions) => {
      const endpoint = messagesPath(sessionId)
      const body = checked(rules.NewMessage, message, `POST ${endpoint.path}`)
      return call(MessageReceipt, { method: 'POST', endpoint, body }, options)
    },

    /** Endpoint 12: the whole state of each entry, so that a repetition changes nothing. Outcomes are per entry (§4.3 rule 2). */
    setUserCreditLimits: async (users: rules.CreditLimitChanges['users'], options?: CallOptions) => {
      const endpoint = v0('/organization/usage/limits/users')
      const body = checked(rules.CreditLimitChanges, { users }, `PUT ${endpoint.path}`)
      return call(CreditLimitsResult, { method: 'PUT', endpoint, body }, options)
    },
  }
}
