// Runs in a thread of its own: a large file must neither hold up requests nor grow the memory of the server. Plain
// JavaScript and the compile cache of main.ts, so that the thread needs no memory for stripping types.
import { enableCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

enableCompileCache(`${import.meta.dirname}/../../../node_modules/.cache/herald`)
const { runTask } = await import('./stage-task.ts')
await runTask(workerData, (message) => parentPort.postMessage(message))
