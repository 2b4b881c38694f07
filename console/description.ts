// What pages tell their script and other tools of a contract: data alone, which both sides of console/ know.

/** A type where it is used: a scalar by its type of XSD, or a named one by its name. */
export type TypeRef = { readonly scalar: string; readonly json: string } | { readonly type: string };

/** A member of a record. */
export interface MemberDescription {
  readonly json: string;
  readonly xml: string;
  readonly type: TypeRef;
  readonly required?: true;
  readonly nillable?: true;
  readonly values?: readonly string[];
  readonly description?: string;
  readonly facts?: string;
}

/** A named type. */
export type TypeDescription = { readonly name: string; readonly documentation?: string } & (
  | {
      readonly kind: 'record';
      readonly members: readonly MemberDescription[];
      /** The element of members of other names, and their type. */
      readonly others?: { readonly xml: string; readonly type: TypeRef };
    }
  | { readonly kind: 'union'; readonly variants: readonly { readonly xml: string; readonly type: TypeRef }[] }
  | {
      readonly kind: 'tuple';
      readonly positions: readonly { readonly xml: string; readonly type: TypeRef }[];
    }
  | { readonly kind: 'array'; readonly namespace: string; readonly itemName: string; readonly item: TypeRef }
  | { readonly kind: 'map'; readonly namespace: string; readonly entryName: string; readonly value: TypeRef }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
);

/** An operation for tools: what the pages show of it, as data. */
export interface OperationDescription {
  readonly name: string;
  readonly documentation: string;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
  readonly deprecated?: true;
  readonly errors?: readonly { readonly status: string; readonly description: string }[];
  readonly input: readonly MemberDescription[];
  readonly output: readonly MemberDescription[];
  readonly routes: readonly string[];
}

/** An operation with all types that its input reaches, for the form. */
export interface FormDescription {
  readonly operation: OperationDescription;
  readonly types: Readonly<Record<string, TypeDescription>>;
  readonly namespaces: { readonly types: string; readonly arrays: string };
  readonly credentials: readonly {
    readonly name: string;
    readonly header: string;
    readonly secret: boolean;
    readonly required: boolean;
    /** The text that stands for it in samples. */
    readonly placeholder: string;
    /** The value of the HTTP header, with `{}` for what the visitor types. */
    readonly format: string;
  }[];
  /** The JSON member that holds credentials in a body, which the form leaves out. */
  readonly credentialsMember: string | undefined;
  readonly soapPaths: readonly { readonly path: string; readonly version: string }[];
  readonly isAdopted: boolean;
  /** Of an adopted service the elements that its request may have: what the editor completes. */
  readonly elements: readonly ElementDescription[];
  /** Requests to begin with, of which no value is anybody's, and where each goes. */
  readonly requests: readonly RequestDescription[];
  /** The same with required members only. */
  readonly requiredRequests: readonly RequestDescription[];
}

/** An element, the elements that may be in it and the values that it may have; names are `{namespace}local`. */
export interface ElementDescription {
  readonly name: string;
  readonly children: readonly string[];
  readonly values: readonly string[];
}

/** A request that the form begins with. */
export interface RequestDescription {
  readonly format: 'soap11' | 'soap12' | 'xml' | 'json';
  readonly contentType: string;
  /** Below the contract's address, such as `/soap11`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The credentials that go in HTTP headers; the text has placeholders for the others. */
  readonly credentials: readonly { readonly credential: string }[];
  readonly text: string;
}

/** What is wrong with a message, as the doctor tells it. */
export interface Explanation {
  readonly findings: readonly {
    readonly severity: 'error' | 'warning';
    readonly at?: { readonly line: number; readonly column: number };
    readonly message: string;
    readonly fix?: string;
  }[];
}
