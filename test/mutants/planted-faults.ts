/** A fault in the product that tests of `npm test` must detect: it breaks an invariant of ARCHITECTURE.md. */
export interface PlantedFault {
  /** Behaviour of the product with the fault. */
  readonly title: string;
  readonly file: string;
  /** Code that occurs once in the file, and its replacement. */
  readonly code: string;
  readonly fault: string;
  /** Test files of `npm test`; at least one test in each fails. */
  readonly tests: readonly string[];
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    title: 'the memory limit is off',
    file: 'gateway/admission/admission.ts',
    code: '#hasMemory(bytes: number): boolean {\n',
    fault: '#hasMemory(bytes: number): boolean {\n    if (bytes > -1) return true;\n',
    tests: ['test/gateway/admission/memory-limit.test.ts'],
  },
  {
    title: 'a used nonce is accepted',
    file: 'gateway/call/nonces.ts',
    code: "    if (end * 1_000 >= now && this.#holdsKey(at)) return 'used';\n",
    fault: '',
    tests: ['test/gateway/call/nonces.test.ts'],
  },
  {
    title: 'the exit code of diff is inverted',
    file: 'gateway/commands/diff.ts',
    code: 'if (breaking) process.exitCode = finding;',
    fault: 'if (!breaking) process.exitCode = finding;',
    tests: ['test/gateway/commands/diff.test.ts'],
  },
  {
    title: 'requests are not counted',
    file: 'gateway/telemetry/request-metrics.ts',
    code: '  add(ofTransport.statuses, meant ?? status);\n',
    fault: '',
    tests: ['test/gateway/telemetry/metrics.test.ts'],
  },
  {
    title: 'the circuit breaker never opens',
    file: 'gateway/upstream/breaker.ts',
    code: '  refusal(call: Subject, now: number, onlyProbes = false): number | undefined {\n',
    fault:
      '  refusal(call: Subject, now: number, onlyProbes = false): number | undefined {\n    if (now > -1) return undefined;\n',
    tests: ['test/gateway/upstream/breaker.test.ts'],
  },
  {
    title: 'the retry budget is endless',
    file: 'gateway/upstream/retry-budget.ts',
    code: '      if (saved < 100) return false;\n',
    fault: '',
    tests: ['test/gateway/upstream/breaker.test.ts', 'test/gateway/upstream/retries.test.ts'],
  },
  {
    title: 'a write is sent again',
    file: 'gateway/upstream/upstream-call.ts',
    code: 'return operation.readOnly && !this.#isAgain && this.service.retries.spend();',
    fault: 'return !this.#isAgain && this.service.retries.spend() && operation !== undefined;',
    tests: ['test/gateway/upstream/retries.test.ts'],
  },
];
