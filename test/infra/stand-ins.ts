import { createSigningService } from './signing-service.ts'

/** A call to a service that has no emulator: Secrets Manager, KMS, Glue, EventBridge. */
export type Call = { action: string; input: Record<string, unknown> }

/** What a service answers; an error is named by `__type`. */
export type StandIns = (call: Call) => object

/** The text of the redaction secret. */
export const redactionKey = 'a key of the tests that is long enough to be one'
/** The token with which machines send events. */
export const hookToken = 'a-token-of-the-tests-that-is-long-enough'

/** The secrets of an account, by name, as people and the stack make them. */
export function secretsOfAccount(): Map<string, string> {
  return new Map([
    ['platform-sync/api-key', '{"apiKey":"sim-key"}'],
    ['platform-sync/redaction-key', redactionKey],
    ['platform-sync/hook-tokens', hookToken],
  ])
}

/** The services, as one account has them. `told`: partitions and events are added there. */
export function createStandIns({ secrets, told }: { secrets: Map<string, string>; told: Call[] }): StandIns {
  const answers: Record<string, (input: Record<string, unknown>) => object> = {
    GetSecretValue: ({ SecretId }) => {
      const SecretString = secrets.get(SecretId as string)
      return SecretString === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString }
    },
    ...createSigningService(),
    ...tablesOfGlue(),
  }
  const telling = ['BatchCreatePartition', 'PutEvents']
  return ({ action, input }) => {
    if (telling.includes(action)) told.push({ action, input })
    else if (!(action in answers)) throw new Error(`nothing stands in for ${action}`)
    return answers[action]?.(input) ?? {}
  }
}

type TableInput = { Name: string }

/** Tables as Glue keeps them, with a version that tells of each change. */
function tablesOfGlue() {
  const tables = new Map<unknown, TableInput & { VersionId: string }>()
  const keep = ({ TableInput }: Record<string, unknown>) => {
    const { Name } = TableInput as TableInput
    const version = Number(tables.get(Name)?.VersionId ?? -1) + 1
    tables.set(Name, { ...(TableInput as TableInput), VersionId: String(version) })
    return {}
  }
  return {
    GetTable: ({ Name }: Record<string, unknown>) => {
      const Table = tables.get(Name)
      return Table ? { Table } : { __type: 'EntityNotFoundException' }
    },
    CreateTable: (input: Record<string, unknown>) =>
      tables.has((input.TableInput as TableInput).Name) ? { __type: 'AlreadyExistsException' } : keep(input),
    UpdateTable: (input: Record<string, unknown>) => {
      const found = tables.get((input.TableInput as TableInput).Name)
      return found?.VersionId === input.VersionId ? keep(input) : { __type: 'ConcurrentModificationException' }
    },
  }
}
