/** Answers are written by their schema. A serializer is compiled when its route first answers: hundreds at every start cost time and memory. */
import build from 'fast-json-stringify'

export function lazySerializer({ schema }: { schema: unknown }): (data: unknown) => string {
  let write: ((data: unknown) => string) | undefined
  return (data) => {
    write ??= build(schema as never)
    return write(data)
  }
}
