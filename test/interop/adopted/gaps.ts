/** What a stack can't do with an adopted service whatever the gateway does. One that passes after all fails the run. */
export interface AdoptedGap {
  /** The stack's folder. */
  readonly stack: string;
  readonly service: string;
  /** All checks where it is absent. */
  readonly check?: string;
  readonly reason: string;
}

export const adoptedGaps: readonly AdoptedGap[] = [
  {
    stack: 'php',
    service: 'catalogue',
    check: 'fault',
    reason: "SoapClient reads no attributes of a fault's detail",
  },
];
