/** A phrase that the texts of this project do not use. */
export interface Phrase {
  /** A regular expression without a group; a space matches any white space. Words match as a whole. */
  readonly form: string;
  /** The reason, as a clause. */
  readonly reason: string;
  /** The replacement. */
  readonly better: string;
}

const metaphor = 'a metaphor for a mechanism';
const archaic = 'an archaic word';
const vague = 'it does not name the thing';

/** Phrases that no text may contain. */
export const phrases: readonly Phrase[] = [
  { form: 'anew', reason: archaic, better: 'again, or rewrite, rebuild' },
  { form: 'amid', reason: archaic, better: 'during, in the middle of' },
  { form: '(?<!, )but for', reason: archaic, better: 'except' },
  { form: 'mend(?:s|ed|ing)?', reason: archaic, better: 'fix, correct' },
  { form: 'beside', reason: 'it has three meanings', better: 'next to, in addition to, in a worker thread' },
  { form: 'strangers?', reason: vague, better: 'untrusted client' },
  {
    form: '(?:services?|what|those|who) behind',
    reason: vague,
    better: 'upstream',
  },
  { form: 'old services?', reason: 'two names for one thing', better: 'legacy service' },
  { form: 'g(?:ives?|ave|iving) way', reason: metaphor, better: 'is evicted, is closed' },
  { form: 'let(?:s|ting)? go of', reason: metaphor, better: 'release, close' },
  { form: 'is shed|are shed|sheds', reason: metaphor, better: 'is rejected with 503' },
  { form: 'crowds?', reason: metaphor, better: 'burst, many connections' },
  { form: 'faces?', reason: metaphor, better: 'endpoint, interface, format' },
  { form: 'misfits?', reason: 'a private word', better: 'mismatch, unknown member' },
  { form: 'turns? of the (?:event )?loop', reason: 'a private word', better: 'event-loop iteration' },
  {
    form: '(?:is|are|was|were|be|been) told(?! apart)|tells? of|told of|tells? (?:that|what|which|whether|how)',
    reason: 'code does not talk',
    better: 'report, return, log, record',
  },
  { form: 'without a word', reason: 'code does not talk', better: 'silently, without an error' },
  { form: 'stands? (?:in|for|where|behind|there|here|at|between)', reason: metaphor, better: 'is in, means' },
  {
    form: '(?:that|which|it|they) (?:is|are) none|(?:is|are) none of|none that',
    reason: 'the reader must find the noun',
    better: 'no …, not a …',
  },
  { form: 'a must', reason: 'an idiom', better: 'required' },
  { form: 'so many', reason: 'it hides the quantity', better: 'the name of the quantity' },
  { form: 'for people', reason: 'a private word', better: 'human-readable, documentation pages' },
  { form: '(?:is|be) had(?: back)?|had back', reason: archaic, better: 'is available, recovered, restored' },
];

/** Words that a comment does not begin with: the sentence hides its subject. */
export const commentStart: Phrase = {
  form: '(?:Of|What|Whether|Where|Whose|Who|How|Has|Says|Tells|So many|Such)',
  reason: 'the comment hides its subject',
  better: 'a noun or a verb, such as "Returns true if …"',
};
