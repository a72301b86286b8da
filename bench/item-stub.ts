type Item = { pk: { S: string } }
type Written = { RequestItems: Record<string, { PutRequest?: { Item: Item } }[]> }
type Wanted = { RequestItems: Record<string, { Keys: Item[] }> }

/**
 * Answers batches of DynamoDB. It keeps the items of the stream `keeps` alone and forgets all others unread: to look into
 * each of them would take more than the worker does to send them.
 */
export function createItemStub(keeps: string | null): (operation: string, body: Buffer) => string {
  const items = new Map<string, Item>()
  const mark = `"S":"${keeps}#`
  return (operation, body) => {
    if (operation.endsWith('.BatchWriteItem')) {
      if (keeps !== null && body.includes(mark)) keep(items, JSON.parse(body.toString()) as Written)
      return '{"UnprocessedItems":{}}'
    }
    const Responses = items.size === 0 ? {} : found(items, JSON.parse(body.toString()) as Wanted)
    return JSON.stringify({ Responses, UnprocessedKeys: {} })
  }
}

function keep(items: Map<string, Item>, { RequestItems }: Written): void {
  for (const { PutRequest } of Object.values(RequestItems).flat())
    if (PutRequest) items.set(PutRequest.Item.pk.S, PutRequest.Item)
}

function found(items: ReadonlyMap<string, Item>, { RequestItems }: Wanted): Record<string, Item[]> {
  const inTable = ({ Keys }: { Keys: Item[] }) => Keys.flatMap(({ pk }) => items.get(pk.S) ?? [])
  return Object.fromEntries(Object.entries(RequestItems).map(([table, wanted]) => [table, inTable(wanted)]))
}
