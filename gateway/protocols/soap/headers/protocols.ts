/** Unsupported protocols over SOAP, by namespace, with a message and an alternative for each. */
const protocols: readonly (readonly [namespace: RegExp, problem: string, instead: string])[] = [
  [
    /^http:\/\/(?:schemas\.xmlsoap\.org\/ws\/2005\/02\/(?:trust|sc)|docs\.oasis-open\.org\/ws-sx\/(?:ws-trust\/200512|ws-secureconversation\/200512))\/?$/,
    'WS-Trust and WS-SecureConversation are not supported',
    'set establishSecurityContext="false" and negotiateServiceCredential="false"',
  ],
  [
    /^http:\/\/(?:schemas\.xmlsoap\.org\/ws\/2005\/02\/rm|docs\.oasis-open\.org\/ws-rx\/wsrm\/200702)\/?$/,
    'WS-ReliableMessaging is not supported',
    'call without a reliable session',
  ],
];

/** Returns the message and the alternative for the protocol of a namespace; undefined if it is not in the list. */
export function protocolOf(
  namespace: string,
): { readonly problem: string; readonly instead: string } | undefined {
  const [, problem, instead] = protocols.find(([pattern]) => pattern.test(namespace)) ?? [];
  return problem === undefined || instead === undefined ? undefined : { problem, instead };
}
