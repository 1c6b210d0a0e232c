/** Filtered-stream rules: read them, match posts against them, say why not. No database, no HTTP. */
export type { Clause, Rule } from './ast.ts'
export { createRuleEngine, type MatchedRule, type RuleEngine, type RuleOwner } from './engine.ts'
export { type ExplainedClause, type Explanation, explain } from './explain.ts'
export { embeddingScore, matches } from './match.ts'
export {
  type ParsedRule,
  parseRule,
  printRule,
  RULE_CHARACTERS_MAX,
  type RuleError,
  type RuleInfo
} from './parse.ts'
export { type Includes, PostView, type RawPost } from './post.ts'
