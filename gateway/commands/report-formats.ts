import { escapeAttribute } from '../../mappings/codec/scalars/text.ts';
import { visible } from '../../mappings/loader/document/error.ts';
import { maxCallers } from '../migration/evidence.ts';
import type { ReplayReport } from '../migration/recording/replay.ts';
import type { Report, ReportedFinding, ReportedOperation } from '../migration/report.ts';

/** Functions that return the lines of a report by format (G50). */
export const linesOf = { text: textLines, markdown: markdownLines, junit: junitLines } as const;

/** Functions that return the lines of the report of a replay by format (G59). */
export const replayLinesOf = {
  text: (report: ReplayReport) => [...textLines(report), ...factsOfReplay(report)],
  markdown: (report: ReplayReport) => [
    ...markdownLines(report),
    '',
    '## Replay',
    '',
    ...factsOfReplay(report).map((line) => `- ${md(line)}`),
  ],
  junit: (report: ReplayReport) => {
    const lines = junitLines(report);
    const facts = factsOfReplay(report).map(xml);
    return [...lines.slice(0, -1), '  <system-out>', ...facts, '  </system-out>', ...lines.slice(-1)];
  },
} as const;

/** Returns the lines about the exchanges of a replay. */
function factsOfReplay(report: ReplayReport): readonly string[] {
  const { compared, equal, explained, different, unanswered, notReplayed, notReplayedCount } = report;
  const left = notReplayedCount - notReplayed.length;
  return [
    `compared: ${compared}, ${equal} equal, ${explained} explained, ${different} different`,
    `without a reply: ${unanswered}`,
    `not replayed: ${notReplayedCount}`,
    ...notReplayed.map(({ exchange, operation, caller, reason }) => {
      const of = caller === null ? '' : ` of ${caller}`;
      return `${exchange}: ${operation}${of}: ${reason}`;
    }),
    ...(left === 0 ? [] : [`and ${left} more`]),
  ];
}

function time(at: number): string {
  return Number.isNaN(new Date(at).getTime()) ? 'unknown' : new Date(at).toISOString();
}

/** Returns a number with its noun: `1 call`, `2 calls`. */
function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Returns a number of callers, of which more may exist. */
function callerCount(callers: number, most: number): string {
  return callers < most ? count(callers, 'caller') : `${most} or more callers`;
}

function verdictText({ verdict, missing }: ReportedOperation): string {
  return missing.length === 0 ? verdict : `${verdict}, missing: ${missing.join(', ')}`;
}

/** Returns the sentences about an operation, without its findings. */
function factsOf(operation: ReportedOperation, { ready }: Report): readonly string[] {
  const { calls, equal, explained, different, callers, unanswered } = operation;
  const { days, noisePairs, more, replaced, legacy, new: upstream } = operation;
  const compared = `calls: ${calls} (required: ${ready.calls}), ${equal} equal, ${explained} explained, ${different} different`;
  const without = `shadow requests without a reply: ${unanswered}`;
  if (calls === 0) return [compared, without];
  return [
    compared,
    `callers: ${callers} (required: ${ready.callers})`,
    `days without an unexplained difference: ${days} (required: ${ready.days})`,
    `${without} (at most ${Number((ready.unanswered * 100).toPrecision(3))} % of the calls)`,
    ...(legacy === undefined ? [] : [`legacy service: p50 ${legacy.p50} ms, p99 ${legacy.p99} ms`]),
    ...(upstream === undefined ? [] : [`new service: p50 ${upstream.p50} ms, p99 ${upstream.p99} ms`]),
    ...(noisePairs === 0 ? [] : [`${count(noisePairs, 'call')} sent twice to the legacy service`]),
    ...(more === 0
      ? []
      : [`${count(more, 'difference')} not listed, because their calls have more than 200`]),
    ...(replaced === 0 ? [] : [`${count(replaced, 'finding')} replaced by others`]),
  ];
}

function findingText({ count: number, calls, callers, first, last, reason }: ReportedFinding): string {
  const why = reason === undefined ? '' : `, reason: ${reason}`;
  const times = first === last ? time(first) : `${time(first)} to ${time(last)}`;
  return `${count(number, 'time')} in ${count(calls, 'call')} of ${callerCount(callers, maxCallers.finding)}, ${times}${why}`;
}

/** Returns the examples of a finding as lines; values are in quotes. */
function examplesOf({ examples }: ReportedFinding): readonly string[] {
  return examples.map(({ path, class: of, legacy, new: upstream, requestId }) => {
    const values = [
      ...(legacy === undefined ? [] : [`legacy ${JSON.stringify(legacy)}`]),
      ...(upstream === undefined ? [] : [`new ${JSON.stringify(upstream)}`]),
      ...(of === undefined ? [] : [of]),
    ];
    return `${path}: ${[...values, `request ${requestId}`].join(', ')}`;
  });
}

function expiredLines({ expired }: Report): readonly string[] {
  return expired.map((reason) => `rule past its date, without effect: ${reason}`);
}

function textLines(report: Report): readonly string[] {
  return [
    `${report.contract}: state of ${time(report.saved)}`,
    ...expiredLines(report).map((line) => `  ${line}`),
    ...report.operations.flatMap((operation) => [
      `${operation.operation}: ${verdictText(operation)}`,
      ...factsOf(operation, report).map((fact) => `  ${fact}`),
      ...operation.findings.flatMap((finding) => [
        `  ${finding.state}: ${finding.name}`,
        `    ${findingText(finding)}`,
        ...examplesOf(finding).map((example) => `    ${example}`),
      ]),
    ]),
  ];
}

/** Escapes a text for Markdown: a character with a meaning in Markdown or HTML stays a character. */
function md(text: string): string {
  return visible(text)
    .replace(/[\\`*_{}[\]()#+\-.!|~:@$^='"]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function markdownLines(report: Report): readonly string[] {
  const cells = (one: ReportedOperation): readonly string[] => [
    ...[one.operation, verdictText(one)].map(md),
    ...[one.calls, one.equal, one.explained, one.different, one.callers].map(String),
  ];
  return [
    `# ${md(report.contract)}: state of ${md(time(report.saved))}`,
    '',
    ...expiredLines(report).flatMap((line) => [md(line), '']),
    '| operation | verdict | calls | equal | explained | different | callers |',
    '|---|---|--:|--:|--:|--:|--:|',
    ...report.operations.map((operation) => `| ${cells(operation).join(' | ')} |`),
    ...report.operations.flatMap((operation) => [
      '',
      `## ${md(operation.operation)}`,
      '',
      ...factsOf(operation, report).map((fact) => `- ${md(fact)}`),
      ...operation.findings.flatMap((finding) => [
        '',
        `### ${finding.state}: ${md(finding.name)}`,
        '',
        md(findingText(finding)),
        '',
        ...examplesOf(finding).map((example) => `- ${md(example)}`),
      ]),
    ]),
  ];
}

/** Escapes a text for an attribute or text of XML 1.0. Control characters are shown as `\u0000`. */
function xml(text: string): string {
  return escapeAttribute(visible(text.replaceAll('\t', ' ')));
}

/** A test case fails for `different`, and is skipped while evidence is missing. */
function junitLines(report: Report): readonly string[] {
  const { operations, contract } = report;
  const number = (...verdicts: readonly string[]): number =>
    operations.filter(({ verdict }) => verdicts.includes(verdict)).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="${xml(`soapbridge ${contract}`)}" timestamp="${xml(time(report.saved))}" tests="${operations.length}" failures="${number('different')}" errors="0" skipped="${number('collecting', 'none')}">`,
    ...operations.flatMap((operation) => {
      const message = xml(verdictText(operation));
      const lines = textLines({ ...report, operations: [operation], expired: [] }).slice(1);
      const result = {
        ready: [],
        different: [
          `    <failure message="${message}" type="different">`,
          ...lines.map(xml),
          '    </failure>',
        ],
        collecting: [`    <skipped message="${message}"/>`],
        none: [`    <skipped message="${message}"/>`],
      }[operation.verdict];
      return [
        `  <testcase classname="${xml(contract)}" name="${xml(operation.operation)}">`,
        ...result,
        '  </testcase>',
      ];
    }),
    '</testsuite>',
  ];
}
