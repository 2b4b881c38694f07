import { compileRules } from '../../mappings/compare/rules.ts';
import { Shapes } from '../../mappings/compare/shapes.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import { suggestion } from '../../mappings/contract/nearest.ts';
import { pointerSegment, type Report } from '../../mappings/loader/document/error.ts';
import { isNode, shown } from '../../mappings/loader/document/node.ts';
import { checkEncryptedReplies } from '../../mappings/loader/overlay/encrypted-replies.ts';
import { parsePath } from '../../mappings/mapping/paths.ts';
import type { StatedMigration } from '../process/migration-setting.ts';
import { checkCaller, checkFaults, checkOperation, faultsOf } from './known-names.ts';
import { readBlends } from './read-blend.ts';
import {
  type CompareMode,
  type Conditions,
  isOf,
  isUnconditional,
  type Override,
  type Percent,
  type Routing,
  type Rule,
  usualCompare,
  type ValueCondition,
  type ValueTest,
} from './routing.ts';
import { readShare } from './units.ts';
import { placeAt } from './values.ts';

/** Maximum number of rules of a contract (G3). */
export const maxRules = 200;

/** The data that the settings are checked against. */
export interface Checked {
  readonly contract: Contract;
  /** Names of callers in `callers.yaml`. */
  readonly callerNames: ReadonlySet<string>;
  /** Operations without a rule in `mapping.yaml`. */
  readonly unmapped: ReadonlySet<string>;
}

type StatedRule = NonNullable<StatedMigration['routes']>[number];

const defaultOverrideHeader = 'x-soapbridge-route';

/** Checks `migration` of a contract, and reports all problems (G3, G4). */
export function readRouting(stated: StatedMigration, at: string, checked: Checked, report: Report): Routing {
  const reader = new Reader(checked, new Set(stated.blend?.keys()), report);
  const { routes = [], override, fallback = new Map(), replies, compare = {}, blend = new Map() } = stated;
  if (routes.length > maxRules)
    report(`${at}/routes`, `expected at most ${maxRules} rules, got ${routes.length}`);
  reader.checkNames(routes, `${at}/routes`);
  const rules = routes.slice(0, maxRules).map((rule, index) => reader.rule(rule, `${at}/routes/${index}`));
  const faults = new Map(
    [...fallback].map(([name, names]) => [name, reader.faults(name, names, `${at}/fallback`)]),
  );
  const { wsse } = checked.contract;
  checkEncryptedReplies(replies?.package, wsse, `${at}/replies/package`, report);
  return {
    rules,
    override: override === undefined ? undefined : reader.override(override, `${at}/override`),
    fallback: faults,
    faultCodes: reader.faultCodes(replies?.faultCode ?? new Map(), `${at}/replies/faultCode`),
    compare: {
      rules: compileRules(compare.rules ?? [], `${at}/compare/rules`, checked, report),
      strict: compare.strict ?? false,
    },
    packaging: replies?.package,
    blends: readBlends(blend, checked.contract, `${at}/blend`, report),
    noise: reader.noise(compare.noise, `${at}/compare/noise`),
  };
}

/** A route change as stated (G66). */
export interface StatedChange extends Pick<StatedRule, 'mode' | 'answer'> {
  readonly operation: string;
  readonly percent?: unknown;
}

/** Pointers of a rule's members that a change has in another place. */
const pointersOfChange: Readonly<Record<string, string>> = {
  '/operations/0': '/operation',
  '/when/percent': '/percent',
};

/** Checks a route change and returns its rule. Callers are selected by the name of the rule (G9). */
export function readChange(
  { operation, mode, answer, percent = 100 }: StatedChange,
  blended: ReadonlySet<string>,
  checked: Checked,
  report: Report,
): Rule {
  const reader = new Reader(checked, blended, (at, message) => report(pointersOfChange[at] ?? at, message));
  const when = percent === 100 ? {} : { percent };
  return reader.rule({ name: `change ${operation}`, operations: [operation], when, mode, answer }, '');
}

class Reader {
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #checked: Checked;
  readonly #report: Report;
  readonly #blended: ReadonlySet<string>;
  readonly #shapes: Shapes;

  constructor(checked: Checked, blended: ReadonlySet<string>, report: Report) {
    this.#operations = new Map(checked.contract.operations.map((operation) => [operation.name, operation]));
    this.#checked = checked;
    this.#shapes = new Shapes(checked.contract);
    this.#blended = blended;
    this.#report = report;
  }

  checkNames(routes: readonly StatedRule[], at: string): void {
    const seen = new Set<string>();
    for (const [index, { name }] of routes.entries()) {
      if (name === undefined) this.#report(`${at}/${index}`, 'expected name, the name of the rule, got none');
      else if (seen.has(name))
        this.#report(`${at}/${index}/name`, `expected a unique name, got ${name} twice`);
      else seen.add(name);
    }
  }

  rule(stated: StatedRule, at: string): Rule {
    const { name = '', operations, when = {}, mode } = stated;
    for (const [index, operation] of (operations ?? []).entries())
      this.#checkOperation(operation, `${at}/operations/${index}`);
    const named = operations === undefined ? undefined : new Set(operations);
    const own = [...this.#operations.values()].filter((one) => named === undefined || named.has(one.name));
    if (mode === undefined) this.#report(at, 'expected mode, the mode of the rule, got none');
    else this.#checkMode(mode, own, `${at}/mode`);
    return {
      name,
      operations: named,
      when: this.#conditions(when, own, `${at}/when`),
      mode: mode ?? 'legacy',
      compare: this.#compare(stated, at),
    };
  }

  /** Reads `answer` and `sample`, which only mode `compare` has. */
  #compare({ mode, answer, sample }: StatedRule, at: string): CompareMode | undefined {
    if (mode === 'compare')
      return {
        answer: answer ?? usualCompare.answer,
        sample: sample === undefined ? usualCompare.sample : this.#readShare(sample, `${at}/sample`),
      };
    for (const key of Object.entries({ answer, sample }).flatMap(([key, value]) =>
      value === undefined ? [] : [key],
    ))
      this.#report(`${at}/${key}`, `expected mode compare for ${key}, got ${mode ?? 'none'}`);
    return undefined;
  }

  /** Returns the share `noise`, from 0 to 1. */
  noise(stated: string | undefined, at: string): number {
    return stated === undefined || stated === 'off' ? 0 : this.#readShare(stated, at);
  }

  #readShare(stated: string, at: string): number {
    const share = readShare(stated);
    if (share !== undefined && share > 0 && share <= 1) return share;
    const expected =
      share === undefined ? 'a share such as 10% or 1 in 20' : 'a share above 0% and up to 100%';
    this.#report(at, `expected ${expected}, got ${stated}`);
    return 1;
  }

  override({ callers = [], header }: NonNullable<StatedMigration['override']>, at: string): Override {
    if (callers.length === 0)
      this.#report(at, 'expected callers, the callers that may send the header, got none');
    for (const [index, caller] of callers.entries()) this.#checkCaller(caller, `${at}/callers/${index}`);
    return { callers: new Set(callers), header: header?.toLowerCase() ?? defaultOverrideHeader };
  }

  faults(operation: string, names: readonly string[], at: string): ReadonlySet<string> {
    const pointer = at + pointerSegment(operation);
    if (this.#checkOperation(operation, pointer))
      checkFaults(names, this.#checked.contract, operation, pointer, this.#report);
    return new Set(names);
  }

  faultCodes(stated: Routing['faultCodes'], at: string): Routing['faultCodes'] {
    const { contract } = this.#checked;
    const declared = new Set(contract.operations.flatMap(({ name }) => faultsOf(contract, name)));
    for (const name of stated.keys())
      if (!declared.has(name)) {
        const near = suggestion(name, [...declared]);
        this.#report(at + pointerSegment(name), `expected a declared fault, got ${name}${near}`);
      }
    return stated;
  }

  #checkOperation(name: string, at: string): boolean {
    return checkOperation(name, [...this.#operations.keys()], at, this.#report);
  }

  #checkMode(mode: NonNullable<StatedRule['mode']>, own: readonly Operation[], at: string): void {
    const write = own.find(({ readOnly }) => !readOnly);
    if (mode !== 'legacy' && mode !== 'new' && write !== undefined)
      this.#report(at, `expected legacy or new for ${write.name}, a write, got ${mode}`);
    const bare = own.find(({ name }) => !this.#blended.has(name));
    if (mode === 'blend' && write === undefined && bare !== undefined)
      this.#report(at, `expected migration.blend.${bare.name} for mode blend, got none`);
    const unmapped = own.find(({ name }) => this.#checked.unmapped.has(name));
    if (mode !== 'legacy' && unmapped !== undefined)
      this.#report(at, `expected a rule of mapping.yaml for ${unmapped.name}, routed to ${mode}, got none`);
  }

  #checkCaller(name: string, at: string): void {
    checkCaller(name, this.#checked.callerNames, at, this.#report);
  }

  #conditions(when: NonNullable<StatedRule['when']>, own: readonly Operation[], at: string): Conditions {
    const { caller, header = new Map(), value = new Map(), percent } = when;
    let callers: ReadonlySet<string> | undefined;
    if (caller !== undefined) {
      const names = this.#texts(caller, `${at}/caller`);
      for (const name of names) this.#checkCaller(name, `${at}/caller`);
      callers = new Set(names);
    }
    const headers = [...header].map(([name, values]) => ({
      name: name.toLowerCase(),
      values: this.#texts(values, `${at}/header${pointerSegment(name)}`).map(asBytes),
    }));
    const values = [...value].flatMap(([text, wanted]) => {
      const pointer = `${at}/value${pointerSegment(text)}`;
      const found = this.#path(text, own, pointer);
      if (found === undefined) return [];
      const condition: ValueCondition = { ...found, pathText: text, test: this.#test(wanted, pointer) };
      return [condition];
    });
    return {
      callers,
      headers,
      values,
      percent: percent === undefined ? undefined : this.#percent(percent, own, `${at}/percent`),
    };
  }

  /** Reads a path and reports it unless a listed operation has it in its requests. */
  #path(
    text: string,
    own: readonly Operation[],
    at: string,
  ): Pick<ValueCondition, 'path' | 'numericIn'> | undefined {
    const path = parsePath(text);
    if (path === undefined) {
      this.#report(at, `expected a path such as Lines[0].Sku, got ${shown(text)}`);
      return undefined;
    }
    const places = own.flatMap((operation) => {
      const place = placeAt(this.#checked.contract, this.#shapes, operation, path);
      return place === undefined ? [] : [{ name: operation.name, ...place }];
    });
    const numeric = places.filter(({ isNumber }) => isNumber).map(({ name }) => name);
    if (places.length > 0) return { path, numericIn: new Set(numeric) };
    this.#report(at, `expected a path in the request of ${namesOf(own)}, got ${text}`);
    return undefined;
  }

  #test(wanted: unknown, at: string): ValueTest {
    if (wanted === 'present' || wanted === 'absent') return { kind: wanted };
    if (!isNode(wanted)) return { kind: 'equals', texts: this.#texts(wanted, at) };
    const { startsWith, ...others } = wanted;
    if (startsWith === undefined || Object.keys(others).length > 0)
      this.#report(at, 'expected a text, a list of texts, present, absent or { startsWith: text }');
    return { kind: 'startsWith', texts: this.#texts(startsWith ?? '', `${at}/startsWith`) };
  }

  /** Reads a text or a list of texts. Numbers and truth values are texts, too. */
  #texts(given: unknown, at: string): readonly string[] {
    const all: readonly unknown[] = Array.isArray(given) ? given : [given];
    if (all.length === 0) this.#report(at, 'expected a text or a list of texts, got an empty list');
    return all.flatMap((one) => {
      if (typeof one === 'string' || typeof one === 'boolean' || typeof one === 'bigint')
        return [String(one)];
      if (typeof one === 'number') return [String(one)];
      this.#report(at, `expected a text or a list of texts, got ${shown(one)}`);
      return [];
    });
  }

  #percent(given: unknown, own: readonly Operation[], at: string): Percent {
    if (!isNode(given)) return { of: this.#share(given, at), by: undefined };
    const { of, by, ...others } = given;
    if (typeof by !== 'string' || Object.keys(others).length > 0)
      this.#report(at, 'expected a number, or { of: number, by: path }');
    const found = typeof by === 'string' ? this.#path(by, own, `${at}/by`) : undefined;
    const path = found === undefined ? undefined : { path: found.path, pathText: String(by) };
    return { of: this.#share(of, `${at}/of`), by: path };
  }

  #share(given: unknown, at: string): number {
    const share = typeof given === 'bigint' ? Number(given) : given;
    if (typeof share === 'number' && share >= 0 && share <= 100) return share;
    this.#report(at, `expected 0 to 100, got ${given === undefined ? 'none' : shown(given)}`);
    return 0;
  }
}

/** Returns a text with the bytes of UTF-8 as characters, as Node reads header values. */
function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function namesOf(operations: readonly Operation[]): string {
  const names = operations.map(({ name }) => name);
  return names.length > 5 ? `${names.slice(0, 5).join(', ')}, …` : names.join(', ');
}

/** Returns warnings about valid routes that are probably mistakes (G4). */
export function warningsOf({ rules }: Routing, { operations }: Contract): readonly string[] {
  const warnings: string[] = [];
  for (const [index, rule] of rules.entries()) {
    const own = operations.filter(({ name }) => isOf(rule, name));
    const before = rules.slice(0, index).filter(isUnconditional);
    const isReached = own.some(({ name }) => !before.some((earlier) => isOf(earlier, name)));
    if (!isReached)
      warnings.push(`route ${rule.name}: no call reaches it, because earlier rules match all calls`);
    const write = own.find(({ readOnly }) => !readOnly);
    const read = operations.find(({ name, readOnly }) => readOnly && !isOf(rule, name));
    if (rule.when.percent !== undefined && write !== undefined && read !== undefined)
      warnings.push(
        `route ${rule.name}: routes a share of ${write.name}, a write, while ${read.name}, a read, follows other rules`,
      );
  }
  return warnings;
}
