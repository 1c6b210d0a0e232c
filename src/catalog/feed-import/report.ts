/** What was wrong with a file, by kind, with the first samples of each. Small however large the file is. */
import type { Issue } from '../issues.ts'
import { FIELD_INDEX } from '../product-fields.ts'
import type { FeedPosition } from './rows.ts'

export interface IssueSample {
  row: number | null
  line: number | null
  /** Counted from 1; null where a format has no columns. */
  column: number | null
  value: string | null
  /** Names the field, the value and the rule, and says what to do. */
  message: string
}

export interface IssueCount {
  severity: 'error' | 'warning'
  code: string
  field: string | null
  count: number
  samples: IssueSample[]
}

/** Why a file as a whole could not be imported. */
export interface RunError extends FeedPosition {
  code: string
  message: string
}

const SAMPLES_MAX = 10
/** Kinds of issues are few, but names of unknown columns come from the file. */
const KINDS_MAX = 200

/** Values of a feed may be slices of large strings, which a sample must not keep alive. */
const copied = (text: string) => Buffer.from(text).toString()

export class IssueReport {
  readonly #kinds = new Map<string, IssueCount>()

  /** Goes on from a list of another report. */
  constructor(from: IssueCount[] = []) {
    for (const kind of from) this.addMany(kind.severity, kind, kind.count, kind.samples)
  }

  add(severity: IssueCount['severity'], issue: Issue, row: number | null, line: number | null, column: number | null) {
    this.addMany(severity, issue, 1, [{ row, line, column, value: issue.value, message: issue.message }])
  }

  addMany(
    severity: IssueCount['severity'],
    { code, field }: Pick<Issue, 'code' | 'field'>,
    count: number,
    samples: IssueSample[]
  ) {
    const key = `${severity} ${code} ${field}`
    let kind = this.#kinds.get(key)
    if (!kind) {
      if (this.#kinds.size >= KINDS_MAX) return
      kind = { severity, code, field: field === null ? null : copied(field), count: 0, samples: [] }
      this.#kinds.set(copied(key), kind)
    }
    kind.count += count
    for (const sample of samples) {
      if (kind.samples.length >= SAMPLES_MAX) return
      const { value, message } = sample
      kind.samples.push({ ...sample, value: value === null ? null : copied(value), message: copied(message) })
    }
  }

  /** Errors first, the most frequent first. */
  list(): IssueCount[] {
    return [...this.#kinds.values()].toSorted(
      (a, b) => a.severity.localeCompare(b.severity) || b.count - a.count || a.code.localeCompare(b.code)
    )
  }
}

/** In which column of the file a field stands. */
export const columnOf = (columns: readonly (number | undefined)[], field: string | null): number | null =>
  (field === null ? undefined : columns[FIELD_INDEX.get(field) ?? -1]) ?? null
