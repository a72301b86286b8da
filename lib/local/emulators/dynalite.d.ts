declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** A server that answers as DynamoDB does; closing it closes its database. `path` is a LevelDB folder. */
  // biome-ignore lint/style/noDefaultExport: the package exports this one function
  export default function dynalite(options: {
    path: string
    createTableMs?: number
    deleteTableMs?: number
    updateTableMs?: number
  }): Server
}
