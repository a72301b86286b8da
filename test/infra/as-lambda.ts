import type { Context } from 'aws-lambda'

/** A function of functions/, as its file exports it. */
export type Handler = (event: unknown, context: Context) => Promise<unknown>

/** As Lambda hands it over: JSON in, JSON out, an error as its type and a cause. */
export function asLambda(handler: Handler, context: () => Context) {
  return async (event: unknown) => {
    try {
      return JSON.parse(JSON.stringify(await handler(JSON.parse(JSON.stringify(event)), context())))
    } catch (error) {
      const { name, message } = error as Error
      throw Object.assign(new Error(JSON.stringify({ errorType: name, errorMessage: message })), { name })
    }
  }
}

/** What `Fail` gives as its cause, without the interpreter's own words. */
export function failureIn({ message }: Error) {
  return message.replace('Execution has failed with the following error: ', '')
}
