/** `npm start`: configuration → database → Herald → listen and work. */
import { enableCompileCache } from 'node:module'

// A warm start neither strips types nor compiles: that halves its time and keeps the stripper out of memory.
enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/herald`)
const { serve } = await import('./serve.ts')
await serve(process.env)
