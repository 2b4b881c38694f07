import type { ScalarName } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';

/** A preset of the overlay for a family of callers. Codecs read settings and types, never the dialect. */
export interface Dialect {
  /** Defaults of overlay keys that differ from those of `overlayKeys`. */
  readonly settings: Partial<Settings>;
  readonly typesNamespace: string | undefined;
  /** Namespace of string arrays and string maps. Undefined: the types namespace. */
  readonly arraysNamespace: string | undefined;
  /** Order of types in the WSDL: as operations reach them, or by name, so that an edit moves no other type. */
  readonly types: 'reached' | 'by-name';
  /** JSON members that come first in any order of elements (W18). */
  readonly first: readonly string[];
  /**
   * Nillable elements. `w33`: all elements of replies and those of requests that W33 lists. `declared`: as the
   * document declares.
   */
  readonly nillable: 'w33' | 'declared';
  /** Request body: its members as children of the wrapper, or one element next to the parameters. */
  readonly body: 'members' | { readonly element: string };
  /** Reply body: its members as children of the wrapper, or one element. */
  readonly reply: 'members' | { readonly element: string };
  /** Element name of the entries of string maps. */
  readonly mapEntry: string;
  /** Type name of string maps. */
  readonly mapName: string;
  /** Scalars of formats with a more specific meaning in this family than in JSON Schema. */
  readonly formats: Readonly<Record<string, ScalarName>>;
  /**
   * `of-dotnet`: callers read xs:decimal as .NET's decimal with 28 digits, so `check` warns about unbounded numbers.
   */
  readonly decimals: 'of-dotnet' | 'any';
}

const servicestack: Dialect = {
  settings: {
    names: 'upper-first',
    order: 'ordinal',
    equalTypes: 'apart',
    dates: 'wcf',
    unknownEnumValues: 'refuse',
    soapErrors: 'in-band',
    upstreamErrors: 'hide',
    jsonp: true,
  },
  typesNamespace: 'http://schemas.servicestack.net/types',
  arraysNamespace: 'http://schemas.microsoft.com/2003/10/Serialization/Arrays',
  types: 'reached',
  first: ['authentication', 'responseStatus'],
  nillable: 'w33',
  body: 'members',
  reply: 'members',
  mapEntry: 'KeyValueOfstringstring',
  mapName: 'ArrayOfKeyValueOfstringstring',
  formats: { uuid: 'guid' },
  decimals: 'of-dotnet',
};

const plain: Dialect = {
  settings: {},
  typesNamespace: undefined,
  arraysNamespace: undefined,
  types: 'by-name',
  first: [],
  nillable: 'declared',
  body: { element: 'Body' },
  reply: { element: 'Result' },
  mapEntry: 'Entry',
  mapName: 'MapOfstring',
  formats: {},
  decimals: 'any',
};

/** The presets, by the values of the overlay key `dialect`. */
export const dialects = { servicestack, plain } as const satisfies Record<string, Dialect>;
