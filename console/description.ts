// Data about a contract that the server sends to the pages' script and to other tools.

/** A reference to a type: a scalar by its XSD and JSON types, or a named type by its name. */
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
      /** Element name and type of additional members. */
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

/** An operation as data, with the content of its page. */
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

/** An operation with all types that its input uses, for the form. */
export interface FormDescription {
  readonly operation: OperationDescription;
  readonly types: Readonly<Record<string, TypeDescription>>;
  readonly namespaces: { readonly types: string; readonly arrays: string };
  readonly credentials: readonly {
    readonly name: string;
    readonly header: string;
    readonly secret: boolean;
    readonly required: boolean;
    /** Text that replaces the credential in samples. */
    readonly placeholder: string;
    /** Value of the HTTP header, with `{}` in place of the visitor's input. */
    readonly format: string;
  }[];
  /** The JSON member that holds credentials in a body. The form omits it. */
  readonly credentialsMember: string | undefined;
  readonly soapPaths: readonly { readonly path: string; readonly version: string }[];
  readonly isAdopted: boolean;
  /** Elements that a request of an adopted service may contain, for completion. */
  readonly elements: readonly ElementDescription[];
  /** Sample requests and their addresses. */
  readonly requests: readonly RequestDescription[];
  /** The same with required members only. */
  readonly requiredRequests: readonly RequestDescription[];
}

/** An element with its allowed child elements and values. Names are `{namespace}local`. */
export interface ElementDescription {
  readonly name: string;
  readonly children: readonly string[];
  readonly values: readonly string[];
}

/** A sample request of the form. */
export interface RequestDescription {
  readonly format: 'soap11' | 'soap12' | 'xml' | 'json';
  readonly contentType: string;
  /** Path below the contract's address, for example `/soap11`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials sent in HTTP headers. The text has placeholders for the others. */
  readonly credentials: readonly { readonly credential: string }[];
  readonly text: string;
}

/** Problems of a message, as the doctor reports them. */
export interface Explanation {
  readonly findings: readonly {
    readonly severity: 'error' | 'warning';
    readonly at?: { readonly line: number; readonly column: number };
    readonly message: string;
    readonly fix?: string;
  }[];
}
