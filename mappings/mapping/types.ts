import type { Mapping } from './mapping.ts';
import type { Entries, Entry, Group, Rule } from './rules.ts';
import type { Shape } from './schemas.ts';

/** Generates TypeScript for the functions of a mapping (M5): the types of both documents with numbers as text. */

/** Returns a module with the types of each mapped operation: its legacy request and reply, and its calls. */
export function writeTypes({ operations }: Pick<Mapping, 'operations'>): string {
  const writer = new TypeWriter();
  const exported: string[] = [];
  for (const [name, { old, calls }] of operations) {
    const base = writer.named(identifier(name));
    const add = (comment: string, what: string, shape: Shape | undefined, number: string): void => {
      const written = writer.typeOf(shape, `${base}${what}Body${number}`);
      exported.push(
        `/** ${comment.replaceAll('*/', '*\\/')}. */\nexport type ${base}${what}${number} = ${written};\n`,
      );
    };
    add(`The request of ${name}`, 'Request', old.body, '');
    add(`The reply of ${name}`, 'Reply', old.reply, '');
    for (const [index, { method, path, body, reply }] of calls.entries()) {
      const number = index === 0 ? '' : String(index + 1);
      add(`The body of ${method} ${path}`, 'Call', body, number);
      add(`The answer of ${method} ${path}`, 'Answer', reply, number);
    }
  }
  const head =
    '// Written by `soapbridge map types`. Numbers are text: no digit is lost.\n\n/** Second argument of a mapping function. */\nexport interface Context {\n  /** Target path of the value. */\n  readonly at: string;\n}\n';
  return [head, ...exported, ...writer.declarations].join('\n');
}

class TypeWriter {
  readonly declarations: string[] = [];
  readonly #names = new Map<Shape, string>();
  readonly #taken = new Set<string>();

  /** Returns a name that is not used yet. */
  named(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count++) name = `${wanted}${count}`;
    this.#taken.add(name);
    return name;
  }

  typeOf(shape: Shape | undefined, name: string): string {
    if (shape === undefined || shape.open) return 'unknown';
    const kinds = [...shape.kinds].map((kind) => {
      switch (kind) {
        case 'object':
          return this.#record(shape, name);
        case 'array':
          return `readonly (${this.typeOf(shape.items, `${name}Item`)})[]`;
        case 'string':
        case 'number':
          return shape.values?.map((value) => JSON.stringify(value)).join(' | ') ?? 'string';
        default:
          return kind;
      }
    });
    return [...new Set(kinds)].join(' | ') || 'never';
  }

  #record(shape: Shape, wanted: string): string {
    const known = this.#names.get(shape);
    if (known !== undefined) return known;
    const name = this.named(wanted);
    this.#names.set(shape, name);
    const lines = [...shape.members].map(
      ([member, { shape: inner, required }]) =>
        `  readonly ${JSON.stringify(member)}${required ? '' : '?'}: ${this.typeOf(inner, name + identifier(member))};\n`,
    );
    if (shape.others !== undefined) lines.push(`  readonly [name: string]: unknown;\n`);
    this.declarations.push(`export interface ${name} {\n${lines.join('')}}\n`);
    return name;
  }
}

function identifier(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_$]/g, '_');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** Returns the functions that rules refer to, by module. */
export function usedFunctions(entries: Entries): ReadonlyMap<string, readonly string[]> {
  const byModule = new Map<string, Set<string>>();
  for (const entry of [...entries.values()].flat()) {
    if (entry.code === undefined) continue;
    const names = byModule.get(entry.code) ?? new Set();
    byModule.set(entry.code, names);
    for (const name of namesIn(entry)) names.add(name);
  }
  return new Map([...byModule].map(([module, names]) => [module, [...names]]));
}

function namesIn({ request, reply, error, faults }: Entry): readonly string[] {
  return [request, reply, error, ...faults.map(({ map }) => map)].flatMap((group) =>
    group === undefined ? [] : inGroup(group),
  );
}

function inGroup({ rules }: Group): readonly string[] {
  return rules.flatMap(({ rule }) => inRule(rule));
}

function inRule({ code, map, source, else: other }: Rule): readonly string[] {
  return [
    ...(code === undefined ? [] : [code]),
    ...(map === undefined ? [] : inGroup(map)),
    ...(source.kind === 'list' ? source.items.flatMap(inRule) : []),
    ...(other === undefined ? [] : inRule(other)),
  ];
}

/** Returns a test file with one failing test for each function of a module. The author adds the expected values. */
export function writeTestSkeleton(module: string, names: readonly string[]): string {
  const tests = names.map(
    (name) =>
      `test('${name}: maps a value', () => {\n  assert.equal(${name}('a value of the source', { at: 'the target path' }), 'the expected target value');\n});\n`,
  );
  return `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { ${names.join(', ')} } from '${module.replaceAll(/['\\]/g, '\\$&')}';\n\n${tests.join('\n')}`;
}
