/** `npm start`: configuration → database → Herald → listen and work. The only file, with the CLI, that exits the process. */
import { serve } from './serve.ts'

await serve(process.env)
