import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { icebergMetadata, icebergRead } from 'icebird'
import type { ObjectStore } from '../../../lib/stores/objects.ts'
import type { Cell } from '../../../lib/streams/table.ts'

/** The rows of a table as an independent reader finds them, times as Unix ms. */
export type TableReader = {
  rows(name: string, version?: number): Promise<Record<string, Cell>[]>
  close(): void
}

/** A bucket behind HTTP: icebird reads tables from addresses. `address` is what the tables have to be made with. */
export async function serveTables(objects: () => ObjectStore): Promise<TableReader & { address: string }> {
  const server = createServer(async (request, response) => {
    const bytes = await objects().get(decodeURIComponent((request.url ?? '/').slice(1)))
    const range = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '')
    if (!bytes) response.writeHead(404).end()
    else if (range) {
      const [from, to] = [Number(range[1]), range[2] ? Number(range[2]) + 1 : bytes.length]
      const part = Buffer.from(bytes).subarray(from, to)
      response.writeHead(206, { 'content-range': `bytes ${from}-${from + part.length - 1}/${bytes.length}` }).end(part)
    } else response.writeHead(200).end(bytes)
  })
  await listening(server)
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address,
    rows: async (name, version) => {
      const tableUrl = `${address}/iceberg/${name}`
      const file = version === undefined ? {} : { metadataFileName: `v${version}.metadata.json` }
      const metadata = await icebergMetadata({ tableUrl, ...file })
      if (metadata['current-snapshot-id'] === -1) return []
      return (await icebergRead({ tableUrl, metadata })).map(plain)
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
}

function plain(row: Record<string, unknown>): Record<string, Cell> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (value instanceof Date) return [name, value.getTime()]
      return [name, typeof value === 'bigint' ? Number(value) : ((value ?? null) as Cell)]
    }),
  )
}
