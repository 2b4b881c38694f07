import type { ContractKind } from './overlay-keys.ts';
import type { AdoptedMessage, ElementDeclaration, SchemaType } from './type-graph.ts';

/** The name of the derived document in the folder of an adopted contract (A1). */
export const derivedFile = 'derived.openapi.yaml';

/** The additional parts of a contract that is loaded from a WSDL (A1). */
export interface Adopted {
  readonly service: AdoptedService;
}

/** Returns the kind of a contract. Most differences between the kinds are settings and data of the contract instead. */
export function contractKindOf({ adopted }: { readonly adopted?: Adopted | undefined }): ContractKind {
  return adopted === undefined ? 'openapi' : 'adopted';
}

/** Returns the service of a contract that is loaded from a WSDL. Throws a RangeError for any other contract. */
export function serviceOf({ adopted }: { readonly adopted?: Adopted | undefined }): AdoptedService {
  if (adopted !== undefined) return adopted.service;
  throw new RangeError(
    'contract: expected a contract that is loaded from a WSDL, got a contract of an OpenAPI document',
  );
}

/** Returns an operation of an adopted contract by its name; undefined for another name or contract. */
export function adoptedOperation(
  { adopted }: { readonly adopted?: Adopted | undefined },
  name: string,
): AdoptedOperation | undefined {
  return adopted?.service.operations.find((operation) => operation.name === name);
}

/** A service as its WSDL describes it: the parts that are served (A1–A9). */
export interface AdoptedService {
  /** `wsdl:definitions/@targetNamespace`. */
  readonly namespace: string;
  /** The name of its first `wsdl:service`. */
  readonly name: string;
  readonly documentation: string;
  readonly ports: readonly AdoptedPort[];
  readonly operations: readonly AdoptedOperation[];
  /** Operations, ports and bindings that are not served, each with the reason (A4, A7). */
  readonly notServed: readonly NotServedPart[];
  /** The JSON names of the types that a value may state (`xsi:type`) or that operations use (A19). */
  readonly typeNames: ReadonlyMap<SchemaType, string>;
  /** All global elements and named types of the documents, for wildcards, headers and `xsi:type`. */
  readonly elements: ReadonlyMap<string, ElementDeclaration>;
  readonly types: ReadonlyMap<string, SchemaType>;
  readonly documents: readonly AdoptedDocument[];
  /** All documents as one WSDL (A2); undefined if the first document has no imports. */
  readonly single: readonly SinglePiece[] | undefined;
  /** The requirements of policies (A31): a line of text each, and whether the gateway meets them. */
  readonly policies: readonly {
    readonly text: string;
    readonly served: boolean;
    readonly kind: PolicyKind;
    /** Settings of the key `wsse` that meet the requirement; undefined for none. */
    readonly needs?: SecurityNeeds;
  }[];
}

/** An operation, port or binding that is not served. */
export interface NotServedPart {
  /** `portType.operation`, or the name of a port or binding. */
  readonly name: string;
  readonly reason: string;
  /** The document that the reason is in, as a path in the folder. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number | undefined;
}

/** The requirements of policies that the loader distinguishes (A31). `signature`: of messages with a signature. */
export type PolicyKind = 'usernameToken' | 'addressing' | 'mtom' | 'signature' | 'other';

/** Settings of the key `wsse` that a policy needs (X37). */
export interface SecurityNeeds {
  readonly x509?: true;
  readonly sign?: true;
  readonly require?: readonly ('body' | 'timestamp' | 'to')[];
  readonly confirmation?: true;
  readonly sha1?: 'signature' | true;
  readonly encryption?: true;
  /** AES-CBC, if the policy also needs encryption. */
  readonly cbc?: true;
  /** The name of the issuer of assertions; `''` for none. */
  readonly saml?: string;
}

/** A document that is served with replacements in some spans (A1, A2). */
export interface AdoptedDocument {
  readonly kind: 'wsdl' | 'xsd';
  /** The path in the folder. */
  readonly file: string;
  /** The number `n` of `?wsdl=n` or `?xsd=n`; 0 for the first document, `?wsdl`. */
  readonly number: number;
  /** True for a schema that is part of the gateway, because the import refers to no file (A2). */
  readonly isBuiltIn: boolean;
  readonly bytes: Uint8Array;
  /** The IANA name of the encoding of `bytes`, for example `utf-8` or `iso-8859-1`. */
  readonly charset: string;
  /**
   * Spans of `bytes` that are replaced, in order: attribute values without their quotes, and the content of elements.
   */
  readonly places: readonly AdoptedPlace[];
}

/** A span of bytes of a served document, and the kind of its replacement. */
export type AdoptedPlace = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'address'; readonly port: string }
  /** A binding or port, with its SOAP version; `other` is HTTP and others. It contains other spans. */
  | { readonly kind: 'version'; readonly soap: '1.1' | '1.2' | 'other' }
  /** `location`: the location as the author wrote it. */
  | { readonly kind: 'location'; readonly document: AdoptedDocument; readonly location: string }
);

/** A part of the single WSDL: a text, or the address of a port. */
export type SinglePiece = {
  /** The version of the binding or port that contains it; undefined outside of them. */
  readonly soap: '1.1' | '1.2' | 'other' | undefined;
} & ({ readonly text: string } | { readonly port: string });

/** A port with a SOAP address (A5). */
export interface AdoptedPort {
  readonly name: string;
  /** The path of its address in the WSDL, `/` and more; undefined if the address has none. */
  readonly path: string | undefined;
  readonly soap: '1.1' | '1.2';
  readonly operations: readonly AdoptedOperation[];
}

/** An operation of a port type that has a SOAP binding (A4). */
export interface AdoptedOperation {
  /** The name in JSON (A4): `POST /{name}`. */
  readonly name: string;
  /** The name in the WSDL, and its port type. */
  readonly wsdlName: string;
  readonly portType: string;
  readonly documentation: string;
  readonly style: 'document' | 'rpc';
  /** `soapAction` of its first binding; `''` for none. Other bindings may have other values. */
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

/** A declared fault with the detail `element` (A29). */
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
