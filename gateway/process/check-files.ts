import { remembersMessages } from '../../mappings/contract/credentials.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { secretsOf } from '../core/contract-app.ts';
import { proxyList } from '../http/forwarded.ts';
import { checkStoreUse, readCallerLimitFiles } from './caller-limits.ts';
import { type CallerFiles, readCallers } from './callers-file.ts';
import { Certificates, certificatesOfPlans } from './certificates.ts';
import { type ConfigFile, readConfig, readListenerPlan, readStore } from './config.ts';
import { openTls } from './listener-tls.ts';
import type { ServeOptions } from './serve-options.ts';
import { type SigningByPath, warnOfCrls, warnOfSigners } from './signing-dates.ts';
import { TlsFiles } from './tls-files.ts';
import { readSecrets } from './wsse-secrets.ts';

/** The options of a process whose files are checked. */
export interface CheckedFiles
  extends Pick<ServeOptions, 'tls' | 'wsseSecrets' | 'callerLimits' | 'limitStore'> {
  /** `soapbridge.yaml`, if the process has one. */
  readonly config: ConfigFile | undefined;
  readonly trustedProxies: readonly string[];
  readonly callerFiles: CallerFiles;
  /** Reads the token file of the admin listener. Throws ContractError. */
  readonly readTokens: (file: string, hasCa: boolean) => unknown;
}

/** Problems that a process would report at its start, and remarks that it would log. */
export interface FileFindings {
  readonly problems: readonly ContractProblem[];
  /** Sentences about certificates that expire soon. */
  readonly warnings: readonly string[];
}

/** Runs functions and collects the problems that they throw. The same problem is kept once. */
export class Findings {
  readonly #problems = new Map<string, ContractProblem>();

  get problems(): readonly ContractProblem[] {
    return [...this.#problems.values()];
  }

  /** Returns the result of `read`; undefined if it throws ContractError. Other errors are thrown. */
  collect<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      for (const problem of error.problems)
        this.#problems.set(JSON.stringify([problem.file, problem.pointer, problem.message]), problem);
      return undefined;
    }
  }

  /** Like `collect`. A RangeError is a problem of an option, too. */
  collectOption<Result>(read: () => Result): Result | undefined {
    return this.collect(() => {
      try {
        return read();
      } catch (error) {
        throw error instanceof RangeError ? new ContractError([problemOf(error)]) : error;
      }
    });
  }
}

/** The message of a RangeError starts with the name of its option. */
function problemOf({ message }: RangeError): ContractProblem {
  const [, file = 'options', text = message] = /^([\w -]+): (.*)$/s.exec(message) ?? [];
  return { file, pointer: '', message: text };
}

/**
 * Reads all files that a process reads at its start, apart from contracts, with the functions that it uses. Also reports
 * certificates that are not valid now, and secrets that a served contract needs.
 *
 * @param contracts contracts with the base paths at which they are served; undefined if one of them has a problem
 */
export function checkFiles(options: CheckedFiles, contracts: readonly Contract[] | undefined): FileFindings {
  const { config } = options;
  const findings = new Findings();
  const certificates = new Certificates();
  const proxies = findings.collectOption(() => proxyList(options.trustedProxies));
  findings.collectOption(() => openTls(options, proxies, certificates));
  const secrets = findings.collectOption(() =>
    options.wsseSecrets === undefined ? undefined : readSecrets(options.wsseSecrets),
  );
  const callers = findings.collectOption(() => readCallers(options.callerFiles));
  const limits =
    callers === undefined
      ? undefined
      : findings.collectOption(() => readCallerLimitFiles({ ...options, metricsOfAll: undefined }, callers));
  if (config !== undefined) {
    findings.collectOption(() => checkAdmin(config, options, certificates));
    findings.collectOption(() => readStore(config, options.callerFiles.callerKey !== undefined));
    findings.collectOption(() =>
      certificates.use('upstreams', certificatesOfPlans(config.path, readConfig(config))),
    );
    for (const contract of contracts ?? [])
      findings.collectOption(() => secretsOf(contract, { secrets: () => secrets }));
  }
  if (contracts !== undefined) {
    findings.collectOption(() => limits?.check(contracts));
    if (options.limitStore !== undefined && options.callerLimits === undefined)
      findings.collectOption(() => checkStoreUse(contracts));
  }
  findings.collectOption(() => certificates.require());
  const signing: SigningByPath = new Map(
    (contracts ?? []).map(({ basePath, wsse = {} }) => [basePath, wsse]),
  );
  const warnings = [
    ...sentencesOf((add) => certificates.warn({ info: add, warn: add, error: () => {} })), // expired ones are problems
    ...sentencesOf((add) => {
      const log = { info: add, warn: add, error: add };
      warnOfSigners(signing, log); // files of signed messages stay in effect (X3)
      warnOfCrls(signing, log);
    }),
    ...memoryWarnings(options, contracts ?? []),
  ];
  return { problems: findings.problems, warnings };
}

/** Returns a sentence for each contract whose memory of messages replicas do not share (X17). */
function memoryWarnings({ limitStore }: CheckedFiles, contracts: readonly Contract[]): readonly string[] {
  if (limitStore !== undefined) return [];
  return contracts
    .filter(({ wsse }) => remembersMessages(wsse))
    .map(
      ({ basePath }) =>
        `${shownPath(basePath)}: each process remembers accepted messages on its own; with several replicas, set SOAPBRIDGE_LIMIT_STORE`,
    );
}

function checkAdmin(
  config: ConfigFile,
  { trustedProxies, readTokens }: CheckedFiles,
  certificates: Certificates,
): void {
  const { admin } = readListenerPlan(config, trustedProxies.length > 0);
  if (admin === undefined) return;
  const tls =
    admin.tls === undefined ? undefined : new TlsFiles(admin.tls, ['admin', 'admin_ca'], certificates);
  readTokens(admin.tokens, tls?.options.ca !== undefined);
}

/** Returns a sentence for each line that a function logs about a certificate or a CRL. */
function sentencesOf(warn: (add: (fields: object, message: string) => void) => void): readonly string[] {
  const sentences: string[] = [];
  warn((fields, message) => sentences.push(sentenceOf(fields, message)));
  return sentences;
}

/** Returns a sentence of a log line about a certificate or a CRL. */
function sentenceOf(fields: object, message: string): string {
  const { certificate, crl } = fields as Readonly<Record<'certificate' | 'crl', Record<string, string>>>;
  if (crl !== undefined) return `${message}: ${crl.contract}, next update ${crl.nextUpdate}`;
  const { use, contract, subject, notAfter } = certificate;
  const of = contract === undefined ? '' : ` of ${shownPath(contract)}`;
  return `${message}: ${subject} (${use}${of}), valid until ${notAfter}`;
}
