/** A person with a browser: keeps cookies, fills in forms, and stops where a redirect leaves the server. */
import type { FastifyInstance } from 'fastify'

export interface Seen {
  status: number
  /** Where the browser was sent, if elsewhere. */
  location?: string
  body: string
  headers: Record<string, string | string[] | number | undefined>
}

export class Person {
  readonly cookies = new Map<string, string>()
  #app: FastifyInstance
  #at = '/'
  #page = ''

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  async open(url: string): Promise<Seen> {
    this.#at = url
    return this.#go('GET', url)
  }

  /** Presses a button of the form on the page, with these fields filled in. */
  async press(
    action: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {}
  ): Promise<Seen> {
    const csrf = /name="csrf" value="([^"]*)"/.exec(this.#page)?.[1] ?? ''
    const form = new URLSearchParams({ csrf, action, ...fields })
    return this.#go('POST', this.#at, form.toString(), headers)
  }

  async signIn(username: string, password: string) {
    return this.press('sign_in', { username, password })
  }

  async #go(
    method: 'GET' | 'POST',
    url: string,
    payload?: string,
    headers: Record<string, string> = {}
  ): Promise<Seen> {
    const answer = await this.#app.inject({
      method,
      url,
      headers: {
        ...(this.cookies.size > 0
          ? { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
          : {}),
        ...(payload === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers
      },
      ...(payload === undefined ? {} : { payload })
    })
    for (const { name, value, maxAge } of answer.cookies) {
      if (maxAge === 0) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const location = answer.headers.location as string | undefined
    if (location?.startsWith('?')) {
      const next = this.#at.split('?', 1)[0] + location
      return this.open(next)
    }
    this.#page = answer.body
    return {
      status: answer.statusCode,
      ...(location === undefined ? {} : { location }),
      body: answer.body,
      headers: answer.headers
    }
  }
}
