import { createReadStream, statSync } from 'node:fs';
import type { Command } from 'commander';
import { compileContract } from '../../mappings/compile.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import type { ExplainedMessage, Explanation } from '../doctor/explain.ts';
import type { Finding } from '../doctor/findings.ts';
import { loadContract } from '../process/load-place.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { type ContractFlags, contractAction, contractCommand, placeOf } from './options.ts';
import { jsonOption, printJson, printLine } from './output.ts';

interface ExplainFlags extends ContractFlags {
  readonly contentType?: string;
  readonly soapaction?: string;
  readonly json: boolean;
}

/** Creates the command `soapbridge explain`. */
export function explainCommand(): Command {
  return contractCommand('explain', [
    '<file>',
    'file with the message, with or without HTTP headers; - for standard input',
  ])
    .description('list all problems of a SOAP message and print a corrected message')
    .option('--content-type <value>', 'Content-Type header of the message')
    .option('--soapaction <value>', 'SOAPAction header of the message, with its quotes')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge explain message.xml parcels.yaml',
        { 0: 'the gateway accepts the message', 1: 'the gateway rejects the message', 2: wrongInputText },
        'The message is neither sent nor stored. Credentials are printed as placeholders.',
      ),
    )
    .action((file: string, document: string | undefined, flags: ExplainFlags, command: Command) =>
      contractAction((named: ExplainFlags) => explainMessage(file, named))(document, flags, command),
    );
}

async function explainMessage(file: string, flags: ExplainFlags): Promise<void> {
  const limits = flags.limits ?? defaultLimits;
  const { contract } = loadContract(placeOf(flags), limits);
  // Loaded on demand, so that wrong flags are reported at once.
  const { createDoctor, maxMessageBytes } = await import('../doctor/explain.ts');
  const bytes = await readUpTo(file, limits.explainBytes ?? maxMessageBytes);
  const explanation = createDoctor(compileContract(contract, limits), true).explain(messageOf(bytes, flags));
  if (flags.json) printJson(explanation);
  else printExplanation(file, explanation);
  if (explanation.findings.some(({ severity }) => severity === 'error')) process.exitCode = finding;
}

/** Reads a file or standard input up to a number of bytes. Throws RangeError. */
async function readUpTo(file: string, most: number): Promise<Buffer> {
  if (file !== '-' && statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new RangeError(
      `expected a file with a message, or - for standard input, got ${JSON.stringify(file)}`,
    );
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
    length += chunk.length;
    if (length > most)
      throw new RangeError(`expected a message of at most ${most} bytes, got a longer message`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the message with its headers. Flags take precedence over an HTTP head before the message. */
function messageOf(bytes: Buffer, { contentType, soapaction }: ExplainFlags): ExplainedMessage {
  const text = bytes.subarray(0, 16 * 1024).toString('latin1');
  const end = /\r?\n\r?\n/.exec(text);
  const isHead = /^[A-Z]{3,8} \S+ HTTP\/1\.[01]\r?\n/.test(text) && end !== null;
  const head = isHead ? text.slice(0, end.index).split(/\r?\n/).slice(1) : [];
  const headers: Record<string, string | undefined> = {};
  for (const line of head) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  if (contentType !== undefined) headers['content-type'] = contentType;
  if (soapaction !== undefined) headers.soapaction = soapaction;
  return { body: isHead ? bytes.subarray(end.index + end[0].length) : bytes, headers };
}

function printExplanation(file: string, { operation, findings, more, corrected }: Explanation): void {
  const name = file === '-' ? 'the message' : file;
  const calls = operation === undefined ? 'calls no operation of this contract' : `calls ${operation}`;
  const counted = (severity: Finding['severity']): string => {
    const count = findings.filter((one) => one.severity === severity).length;
    return `${count} ${severity}${count === 1 ? '' : 's'}`;
  };
  const summary = `${counted('error')}, ${counted('warning')}`;
  const lines = [`${name} ${calls}: ${findings.length === 0 ? 'no problem found' : summary}`];
  for (const { severity, at, message, fix } of findings) {
    const place = at === undefined ? 'HTTP headers' : `line ${at.line}, column ${at.column}`;
    lines.push('', `${severity}: ${place}: ${message}`);
    if (fix !== undefined) lines.push(`  instead: ${fix}`);
  }
  if (more > 0) lines.push('', `… and ${more} more`);
  if (findings.length > 0 && corrected !== undefined) {
    const { isTaken, contentType, soapAction, text } = corrected;
    const verdict = isTaken
      ? 'the gateway accepts it'
      : 'incomplete; correct the remaining problems yourself';
    lines.push('', `The corrected message (${verdict}):`, '', `Content-Type: ${contentType}`);
    if (soapAction !== undefined) lines.push(`SOAPAction: ${soapAction}`);
    lines.push('', text.trimEnd());
  }
  for (const line of lines.join('\n').split('\n')) printLine(line);
}
