import { scriptArguments } from '../script-arguments.ts';
import {
  describe,
  findingsInCommits,
  findingsInPages,
  findingsInPageTexts,
  findingsInSources,
} from './check.ts';

scriptArguments(
  `npm run prose [-- --help]

Finds forbidden phrases in Markdown pages, comments, messages, page texts and commit subjects. It prints the reason and
a better phrase for each. The phrases are in test/prose/patterns.ts. The exit code is 1 if there is a finding.

  --help  print this help`,
  { options: {} },
);

const commits = findingsInCommits();
const findings = [
  ...findingsInPages(),
  ...findingsInSources(),
  ...findingsInPageTexts(),
  ...(typeof commits === 'string' ? [] : commits),
];
for (const finding of findings) console.log(describe(finding));
if (typeof commits === 'string') console.log(`commit subjects are not checked: ${commits}`);
console.log(`${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;
