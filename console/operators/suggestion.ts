import { stringify } from 'yaml';
import { textClasses } from '../../mappings/compare/rules.ts';

/** A finding, as far as a rule depends on it. */
export interface SuggestedFinding {
  readonly operation: string;
  /** Path without positions. */
  readonly path: string;
  readonly kind: string;
  readonly examples: readonly {
    readonly class?: string;
    readonly legacy?: string;
    readonly new?: string;
  }[];
}

/** Maximum number of pairs in a suggested `map`. */
const maxPairs = 10;

/**
 * Returns a rule of `migration.compare.rules` that explains a finding, as YAML (G43); undefined if no rule can explain
 * it. The operator replaces the reason.
 */
export function suggestedRule({ operation, path, kind, examples }: SuggestedFinding): string | undefined {
  const action = path === '@reply' || path === '@frame' ? undefined : actionFor(kind, examples);
  if (action === undefined) return undefined;
  return stringify([{ operation, path, ...action, reason: 'describe why the difference is correct' }]);
}

function actionFor(kind: string, examples: SuggestedFinding['examples']): object | undefined {
  const classes = [...new Set(examples.flatMap((example) => example.class ?? []))];
  if (kind === 'unreadable' || kind === 'frame') return undefined;
  if (kind === 'order') return { sameSet: true };
  if (kind === 'absence') {
    const states = new Set(classes.flatMap((pair) => pair.split(' ')));
    return states.has('present') || states.size < 2 ? { ignore: true } : { absence: [...states] };
  }
  if (kind !== 'value' || classes.length === 0) return { ignore: true };
  const known: readonly string[] = textClasses;
  if (classes.every((name) => known.includes(name))) return { text: classes };
  if (classes.every((name) => name === 'zone')) return { timeZone: 'UTC' };
  if (classes.every((name) => name === 'rounding')) return { tolerance: '0.0001%' };
  return mapOf(examples) ?? { ignore: true };
}

/** Returns the action `map` if each legacy value has one new value, and no value is hidden. */
function mapOf(examples: SuggestedFinding['examples']): object | undefined {
  const values = new Map<string, string>();
  for (const { legacy, new: other } of examples) {
    if (legacy === undefined || other === undefined || isHidden(legacy) || isHidden(other)) return undefined;
    if ((values.get(legacy) ?? other) !== other) return undefined;
    values.set(legacy, other);
  }
  return values.size > 0 && values.size <= maxPairs ? { map: Object.fromEntries(values) } : undefined;
}

/** Returns true for `***` and for pseudonyms (G45, G57). */
function isHidden(text: string): boolean {
  return text.includes('***') || text.startsWith('p-');
}
