/** The few pages a person sees: sign in, consent, a PIN, an error. No scripts, nothing from elsewhere. */
import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => ENTITIES[char]!)

/** HTML that may be put into a page as it is. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | Html | Html[]
const render = (part: Part): string =>
  part instanceof Html ? part.text : Array.isArray(part) ? part.map(render).join('') : escapeHtml(part)

/** Escapes whatever is put into it, unless it came from here. */
const html = (strings: TemplateStringsArray, ...parts: Part[]) =>
  new Html(strings.reduce((text, string, index) => text + render(parts[index - 1]!) + string))

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{width:min(26rem,calc(100vw - 3rem));padding:1.5rem 0}
h1{font-size:1.35rem;line-height:1.3;margin:0 0 1rem}
label{display:block;margin:0 0 1rem}
input{display:block;box-sizing:border-box;width:100%;margin-top:.25rem;padding:.6rem;font:inherit;border:1px solid GrayText;border-radius:.4rem}
ul{padding-left:1.2rem}
.actions{display:flex;gap:.75rem;margin-top:1.5rem}
button{flex:1;padding:.65rem 1rem;font:inherit;border:1px solid GrayText;border-radius:.4rem;background:ButtonFace;color:ButtonText;cursor:pointer}
button.primary{background:#1256a3;border-color:#1256a3;color:#fff}
button.link{flex:none;border:0;background:none;padding:0;color:LinkText;text-decoration:underline}
.note{color:GrayText;font-size:.9rem}
.problem{border-left:.25rem solid #b3261e;padding:.5rem .75rem}
.pin{font:2.2rem ui-monospace,monospace;letter-spacing:.2em}`
const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE, 'base64')}'`

export interface Page {
  title: string
  body: Html
  /** Where the form's answer may lead: browsers also check the redirect that follows it. */
  leadsTo?: string
}

/** The origin of a web address, or the scheme of an application's own. */
function formTarget(uri: string) {
  const { protocol, origin } = new URL(uri)
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol
}

export function sendPage(reply: FastifyReply, status: number, page: Page) {
  const formAction = page.leadsTo ? `'self' ${formTarget(page.leadsTo)}` : "'self'"
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src ${STYLE_SOURCE}; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store'
    })
    .send(
      html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${page.title}</h1>
${page.body}
</main>
</body>
</html>
`.text
    )
}

export const errorPage = (title: string, sentence: string): Page => ({ title, body: html`<p>${sentence}</p>` })

/** Forms have no `action`: they go back to the address of the page, query included, also behind a proxy. */
export const signInPage = (input: { appName: string; csrf: string; username?: string; problem?: string }): Page => ({
  title: `Sign in to continue to ${input.appName}`,
  body: html`${input.problem ? html`<p class="problem" role="alert">${input.problem}</p>` : ''}
<form method="post">
<input type="hidden" name="csrf" value="${input.csrf}">
<label>Username
<input name="username" value="${input.username ?? ''}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label>
<label>Password
<input name="password" type="password" autocomplete="current-password" required></label>
<div class="actions"><button class="primary" name="action" value="sign_in">Sign in</button></div>
</form>`
})

export const consentPage = (input: {
  appName: string
  username: string
  csrf: string
  sentences: readonly string[]
  leadsTo?: string
}): Page => ({
  title: `${input.appName} wants to access your account`,
  ...(input.leadsTo ? { leadsTo: input.leadsTo } : {}),
  body: html`<p>If you allow it, this app will be able to:</p>
<ul>
${input.sentences.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>
<form method="post">
<input type="hidden" name="csrf" value="${input.csrf}">
<div class="actions"><button class="primary" name="action" value="allow">Allow</button>
<button name="action" value="deny">Deny</button></div>
<p class="note">You are signed in as @${input.username}.
<button class="link" name="action" value="sign_out">Not you?</button></p>
${input.leadsTo ? html`<p class="note">Afterwards you return to ${formTarget(input.leadsTo)}.</p>` : ''}
</form>`
})

export const pinPage = (appName: string, pin: string): Page => ({
  title: `Go back to ${appName}`,
  body: html`<p>Enter this PIN there to finish:</p>
<p class="pin">${pin}</p>`
})
