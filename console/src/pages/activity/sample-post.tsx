import { useMutation } from '@tanstack/react-query'
import { ask } from '../../client/api.ts'
import { plural } from '../../client/format.ts'
import type { App } from '../../client/resources.ts'
import { Card, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/fields.tsx'

export const SAMPLE_POST = JSON.stringify(
  {
    id: '1902345678901234567',
    author_id: '42',
    text: 'A cat on the #keyboard again https://example.com/cats',
    lang: 'en',
    entities: { hashtags: [{ tag: 'keyboard' }], urls: [{ expanded_url: 'https://example.com/cats' }] }
  },
  null,
  2
)

/** The post, or what is wrong with the text. */
export function readPost(text: string): { post: object } | { problem: string } {
  try {
    const post: unknown = JSON.parse(text)
    return post !== null && typeof post === 'object' && !Array.isArray(post)
      ? { post }
      : { problem: 'A post is a JSON object.' }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

interface Tried {
  matched: boolean
  matching_rules?: { id: string }[]
}

export function SamplePost({
  app,
  value,
  onChange,
  onTried
}: {
  app: App
  value: string
  onChange: (text: string) => void
  onTried: (matching: ReadonlySet<string>) => void
}) {
  const read = readPost(value)
  const tryAll = useMutation({
    mutationFn: (post: object) => ask<Tried>('POST', '/admin/activity/rules/try', { body: { app_id: app.id, post } }),
    onSuccess: ({ matching_rules = [] }) => onTried(new Set(matching_rules.map(({ id }) => id)))
  })
  const matches = tryAll.data?.matching_rules?.length ?? 0
  return (
    <Card title="A sample post">
      <div className="stack">
        <TextArea
          label="The post as JSON"
          value={value}
          onChange={({ target }) => {
            onChange(target.value)
            tryAll.reset()
          }}
          rows={11}
          spellCheck={false}
          className="mono"
          problem={'problem' in read ? read.problem : undefined}
          hint="It is never published. The rule beside is tried on it while you type."
        />
        {tryAll.error ? <Problem error={tryAll.error} /> : null}
        <div className="row wrap">
          <Button
            disabled={'problem' in read}
            busy={tryAll.isPending && 'Trying …'}
            onClick={() => 'post' in read && tryAll.mutate(read.post)}
          >
            Try it on all rules
          </Button>
          {tryAll.data ? (
            <output className={matches > 0 ? 'good' : 'muted'}>
              {matches > 0 ? `${plural(matches, 'rule matches', 'rules match')} it` : 'No rule matches it'}
            </output>
          ) : null}
        </div>
      </div>
    </Card>
  )
}
