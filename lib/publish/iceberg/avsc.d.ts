/** The part of avsc that knows types: without its RPC and its parser of schema files a bundle is 40 KB smaller. */
declare module 'avsc/lib/types.js' {
  import type { Schema, Type } from 'avsc'

  const types: { Type: { forSchema: (schema: Schema) => Type } }
  // biome-ignore lint/style/noDefaultExport: the package exports one object
  export default types
}
