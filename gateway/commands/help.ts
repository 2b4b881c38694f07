/** Exit codes of a command with their meanings, for its help text. */
type ExitCodes = Readonly<Partial<Record<0 | 1 | 2 | 3, string>>>;

/** Meaning of exit code 2 for a command that has no cause of its own. */
export const wrongInputText = 'an option, a file or the contract is wrong';

/** Returns the end of a help text: an optional note, an example and the exit codes. */
export function helpEnd(example: string, exitCodes: ExitCodes, note?: string): string {
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`);
  const paragraphs = [`Example:\n  ${example}`, ['Exit codes:', ...codes].join('\n')];
  return `\n${[...(note === undefined ? [] : [note]), ...paragraphs].join('\n\n')}`;
}
