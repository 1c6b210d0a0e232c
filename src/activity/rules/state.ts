/** What the parts of the engine share about the post at hand. */

/** Of each term: the serial of the last post that had it, how many had it, since which post, and where its rules are. */
export const TERM_WIDTH = 4
export const MARK = 0
export const HITS = 1
export const SINCE = 2
export const HEAD = 3

export const HINT_MASK = 2047

export interface MatchState {
  /** Counts posts; a term whose mark is the serial is one that the post has. */
  serial: number
  terms: Int32Array
  /** The marks once more by `slot & HINT_MASK`: so few that they stay close to the processor. Only a no is sure. */
  hints: Int32Array
  /** The post's tokens in their order, as slots of terms; 0 for any that no rule knows, and between two texts. */
  sequence: Int32Array
  sequenceLength: number
  /** What is: and has: were found to be, one bit each. */
  flagsKnown: number
  flags: number
}

export const newMatchState = (): MatchState => ({
  serial: 0,
  terms: new Int32Array(64 * TERM_WIDTH),
  hints: new Int32Array(HINT_MASK + 1),
  sequence: new Int32Array(512),
  sequenceLength: 0,
  flagsKnown: 0,
  flags: 0
})
