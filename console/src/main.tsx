import './styles/index.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './client/query-client.ts'
import { router } from './router.tsx'
import { Messages } from './ui/overlays.tsx'
import './ui/theme.ts'

// A page that was open while the server got a newer console finds its chunks gone: load the newer one, once.
window.addEventListener('vite:preloadError', (event) => {
  const last = Number(sessionStorage.getItem('herald-reloaded') ?? 0)
  if (Date.now() - last < 10_000) return
  sessionStorage.setItem('herald-reloaded', String(Date.now()))
  event.preventDefault()
  window.location.reload()
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Messages>
        <RouterProvider router={router} />
      </Messages>
    </QueryClientProvider>
  </StrictMode>
)
