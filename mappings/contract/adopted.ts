import type { Contract, MovedFrom } from './model.ts';
import type { AdoptedMessage, ElementDeclaration, SchemaType } from './type-graph.ts';

/** The name of the derived document in the folder of an adopted contract (A1). */
export const derivedFile = 'derived.openapi.yaml';

/** The additional parts of a contract that is loaded from a WSDL (A1). */
export interface Adopted {
  readonly service: AdoptedService;
  readonly endpoints: readonly AdoptedEndpoint[];
  /** True if a mapping to another document belongs to it (M1); the contract cannot be served without the mapping. */
  readonly isMapped?: boolean;
}

/** An operation of an adopted contract by its name; undefined for another name, and where none was adopted. */
export function adoptedOperation(
  { adopted }: { readonly adopted?: Adopted | undefined },
  name: string,
): AdoptedOperation | undefined {
  return adopted?.service.operations.find((operation) => operation.name === name);
}

/** Returns true if an operation of a contract has the style rpc, whose callers may bind a prefix to no namespace (A30). */
export function hasRpc({ adopted }: { readonly adopted?: Adopted | undefined }): boolean {
  return adopted?.service.operations.some(({ style }) => style === 'rpc') === true;
}

/** A path at which ports of an adopted service answer (A5). */
export interface AdoptedEndpoint {
  /** Below the contract's base path, such as `/Service.asmx`. */
  readonly path: string;
  /** At least one; ports whose addresses are alike share an endpoint. */
  readonly ports: readonly AdoptedPort[];
}

/** A scalar of a declared header block that is sent upstream as a credential, in an HTTP header (A8). */
export interface MovedHeader extends MovedFrom {
  /** The credential's name: `{block}.{path}`. */
  readonly name: string;
  /** The HTTP header's name. */
  readonly header: string;
}

/** The credentials of a contract that callers send in declared header blocks (A8). */
export function movedHeadersOf({ credentials }: Pick<Contract, 'credentials'>): readonly MovedHeader[] {
  return (credentials?.parts ?? []).flatMap(({ name, header, moved }) =>
    moved === undefined ? [] : [{ name, header, ...moved }],
  );
}

/** A service as its WSDL says it, all of what is served (A1–A9). */
export interface AdoptedService {
  /** `wsdl:definitions/@targetNamespace`. */
  readonly namespace: string;
  /** The name of its `wsdl:service`; of several, the first. */
  readonly name: string;
  readonly documentation: string;
  readonly ports: readonly AdoptedPort[];
  readonly operations: readonly AdoptedOperation[];
  /** Operations, ports and bindings that aren't served, each with the reason (A4, A7). */
  readonly notServed: readonly NotServedPart[];
  /** The named types that a value may say (`xsi:type`) and those that operations reach, by their JSON name (A19). */
  readonly typeNames: ReadonlyMap<SchemaType, string>;
  /** Every global element and named type of the documents, for wildcards, headers and `xsi:type`. */
  readonly elements: ReadonlyMap<string, ElementDeclaration>;
  readonly types: ReadonlyMap<string, SchemaType>;
  readonly documents: readonly AdoptedDocument[];
  /** All documents as one WSDL (A2); undefined if the first document has no imports. */
  readonly single: readonly SinglePiece[] | undefined;
  /** What policies ask for (A31), a line each, and whether it can be met. */
  readonly policies: readonly {
    readonly text: string;
    readonly served: boolean;
    readonly kind: PolicyKind;
  }[];
}

/** An operation, port or binding that is not served. */
export interface NotServedPart {
  /** `portType.operation`, or the name of a port or binding. */
  readonly name: string;
  readonly reason: string;
  /** The document that the reason is in: its path in the folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number | undefined;
}

/** The requirements of policies that the loader distinguishes (A31). */
export type PolicyKind = 'usernameToken' | 'addressing' | 'mtom' | 'other';

/** A document to be served as it is but for some places (A1, A2). */
export interface AdoptedDocument {
  readonly kind: 'wsdl' | 'xsd';
  /** The path in the folder. */
  readonly file: string;
  /** `n` of `?wsdl=n` or `?xsd=n`; 0 for the first, which is `?wsdl`. */
  readonly number: number;
  /** True for a schema that comes with the code, because an import of it leads to no file (A2). */
  readonly isBuiltIn: boolean;
  readonly bytes: Uint8Array;
  /** The IANA name of the encoding of `bytes`, such as `utf-8` or `iso-8859-1`. */
  readonly charset: string;
  /** Spans of `bytes`, in order, to put something else in place of: attribute values without their quotes, and the content of elements. */
  readonly places: readonly AdoptedPlace[];
}

/** A span of bytes of a served document, and what goes there. */
export type AdoptedPlace = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'address'; readonly port: string }
  /** A binding or port, with the SOAP version that it is of; `other` is HTTP and others. It holds other places. */
  | { readonly kind: 'version'; readonly soap: '1.1' | '1.2' | 'other' }
  /** `location`: the location as the author wrote it. */
  | { readonly kind: 'location'; readonly document: AdoptedDocument; readonly location: string }
);

/** A part of the single WSDL: a text, or the address of a port. */
export type SinglePiece = {
  /** The version of the binding or port that it is in; undefined outside of them. */
  readonly soap: '1.1' | '1.2' | 'other' | undefined;
} & ({ readonly text: string } | { readonly port: string });

/** A port with a SOAP address (A5). */
export interface AdoptedPort {
  readonly name: string;
  /** The path of its address as the WSDL has it, `/` and more; undefined where the address has none. */
  readonly path: string | undefined;
  readonly soap: '1.1' | '1.2';
  readonly operations: readonly AdoptedOperation[];
}

/** An operation of a port type that has a SOAP binding (A4). */
export interface AdoptedOperation {
  /** In JSON (A4): `POST /{name}`. */
  readonly name: string;
  /** In the WSDL, and the port type it is of. */
  readonly wsdlName: string;
  readonly portType: string;
  readonly documentation: string;
  readonly style: 'document' | 'rpc';
  /** `soapAction` of the binding; `''` for none. The same operation may have several by its bindings; this one is the first's. */
  readonly action: string;
  /** Each `soapAction` of its bindings, and the WS-Addressing action that its input declares; empty ones are omitted. */
  readonly actions: readonly string[];
  /** The WS-Addressing action of its reply (A34); undefined for a one-way operation. */
  readonly replyAction: string | undefined;
  readonly input: AdoptedMessage;
  /** Undefined for a one-way operation (A9). */
  readonly output: AdoptedMessage | undefined;
  readonly faults: readonly AdoptedFault[];
}

/** A declared fault (A29); its detail is `element`. */
export interface AdoptedFault {
  readonly name: string;
  readonly element: ElementDeclaration;
  readonly use: 'literal' | 'encoded';
  /** Its WS-Addressing actions (A34). */
  readonly action: FaultAction;
}

/** The WS-Addressing action of a fault: the one that the WSDL declares, and the default one (A34). */
export interface FaultAction {
  readonly declared: string | undefined;
  readonly default: string;
}
