import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, DynamoDBDocumentClient, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Item, Items } from '../erase/ports.ts'
import { callAws, isConditionFailure, storageError } from './aws-errors.ts'

const keyNames = ['pk', 'sk']

/** All items of a table in DynamoDB, to be changed where they are still as they were read. */
export function createItems({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): Items {
  const documents = DynamoDBDocumentClient.from(dynamodb)
  return {
    all: async function* () {
      try {
        for await (const { Items: found = [] } of paginateScan(
          { client: documents },
          { TableName: table, ConsistentRead: true },
        ))
          yield* found as Item[]
      } catch (error) {
        throw storageError(error, { what: `read table ${table}` })
      }
    },
    change: (before, after) =>
      callAws({ what: `change an item of table ${table}` }, async () => {
        const names = Object.keys(before).filter((name) => before[name] !== after[name])
        if (names.length === 0) return true
        try {
          await documents.send(
            new UpdateCommand({ TableName: table, Key: keyOf(before), ...update(names, before, after) }),
          )
          return true
        } catch (error) {
          if (isConditionFailure(error)) return false
          throw error
        }
      }),
    remove: async (item) => {
      await callAws({ what: `remove an item of table ${table}` }, () =>
        documents.send(new DeleteCommand({ TableName: table, Key: keyOf(item) })),
      )
    },
  }
}

function keyOf(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([name]) => keyNames.includes(name)))
}

function update(names: readonly string[], before: Item, after: Item) {
  const numbered = (mark: string, item: Item) => names.map((name, at) => [`${mark}${at}`, item[name]] as const)
  return {
    UpdateExpression: `SET ${names.map((_, at) => `#n${at} = :a${at}`).join(', ')}`,
    ConditionExpression: names.map((_, at) => `#n${at} = :b${at}`).join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#n${at}`, name])),
    ExpressionAttributeValues: Object.fromEntries([...numbered(':a', after), ...numbered(':b', before)]),
  }
}
