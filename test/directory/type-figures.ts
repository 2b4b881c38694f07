import { XMLParser } from 'fast-xml-parser';
import type { Contract } from '../../mappings/contract/model.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { type SchemaNumber, writeSchema } from '../../wsdl/schema.ts';

/** Figures about a WSDL's types that matter to class generators. */
export interface TypeFigures {
  readonly types: number;
  /** Number of types that repeat another type, ignoring documentation. */
  readonly repeated: number;
  /** Number of repeated types that the document itself declares under different names. */
  readonly repeatedComponents: number;
  /** Number of names like `Option7c2d`, or containing such a name. */
  readonly options: number;
  /** In characters. */
  readonly longestName: number;
  /** Number of names longer than 60 characters. */
  readonly tooLong: number;
}

type XmlNode = Readonly<Record<string, unknown>> & { readonly ':@'?: Readonly<Record<string, string>> };

/** Returns the figures of a contract's schemas, computed from the XSD and not from the model. */
export function typeFigures({ contract, names: { types: given } }: LoadedContract): TypeFigures {
  const types = ([0, 1, 2] as const).flatMap((number) => typesOf(contract, number));
  const names = types.map(({ name }) => name);
  const components = new Set(
    [...given].flatMap(([key, name]) => (/^\/components\/schemas\/[^/#]+$/.test(key) ? [name] : [])),
  );
  const repeated = repeatedForms(types);
  return {
    types: types.length,
    repeated: sumOf(repeated, ({ length }) => length - 1),
    repeatedComponents: sumOf(repeated, (all) =>
      Math.max(0, all.filter((name) => components.has(name)).length - 1),
    ),
    options: names.filter((name) => /Option[\da-f]{4}/.test(name)).length,
    longestName: Math.max(0, ...names.map(({ length }) => length)),
    tooLong: names.filter(({ length }) => length > 60).length,
  };
}

/** A type of an XSD: its content as text with placeholders for the types that it references. */
interface SchemaType {
  readonly name: string;
  readonly content: string;
  readonly refers: readonly string[];
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  processEntities: false,
});

function typesOf(contract: Contract, number: SchemaNumber): readonly SchemaType[] {
  const text = writeSchema(contract, number, { address: 'https://api.example' });
  if (text === undefined) return [];
  const schema = (parser.parse(text) as XmlNode[]).flatMap((node) => childrenOf(node, 'xs:schema') ?? []);
  return schema.flatMap((node) => {
    const name = node[':@']?.name;
    const kind = ['xs:complexType', 'xs:simpleType'].find((each) => each in node);
    if (name === undefined || kind === undefined) return [];
    const refers: string[] = [];
    const content = JSON.stringify(node[kind], (key, value: unknown) => {
      if (Array.isArray(value)) return value.filter((child: XmlNode) => !('xs:annotation' in child));
      if (!['type', 'base', 'itemType'].includes(key) || String(value).startsWith('xs:')) return value;
      refers.push(String(value).replace(/^[^:]*:/, ''));
      return '?';
    });
    return [{ name, content: `${kind} ${content}`, refers }];
  });
}

function childrenOf(node: XmlNode, name: string): readonly XmlNode[] | undefined {
  return node[name] as readonly XmlNode[] | undefined;
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}

/**
 * Groups the names of types with the same form, for each form that occurs more than once. Two types have the same form
 * if their contents are equal and all referenced types have the same forms.
 */
function repeatedForms(types: readonly SchemaType[]): readonly (readonly string[])[] {
  let forms = new Map<string, number>();
  for (let count = -1; ; ) {
    const groups = Map.groupBy(
      types,
      ({ content, refers }) => `${content} ${refers.map((name) => forms.get(name) ?? name).join()}`,
    );
    const all = [...groups.values()].map((same) => same.map(({ name }) => name));
    if (all.length === count) return all.filter(({ length }) => length > 1);
    count = all.length;
    forms = new Map(all.flatMap((same, at) => same.map((name) => [name, at])));
  }
}
