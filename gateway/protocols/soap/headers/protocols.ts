/** Protocols over SOAP that are not offered, by the namespaces of their elements, each with what works in its place. */
const protocols: readonly (readonly [namespace: RegExp, told: string, instead: string])[] = [
  [
    /^http:\/\/(?:schemas\.xmlsoap\.org\/ws\/2005\/02\/(?:trust|sc)|docs\.oasis-open\.org\/ws-sx\/(?:ws-trust\/200512|ws-secureconversation\/200512))\/?$/,
    'WS-Trust and WS-SecureConversation are not offered here',
    'set establishSecurityContext="false" and negotiateServiceCredential="false"',
  ],
  [
    /^http:\/\/(?:schemas\.xmlsoap\.org\/ws\/2005\/02\/rm|docs\.oasis-open\.org\/ws-rx\/wsrm\/200702)\/?$/,
    'WS-ReliableMessaging is not offered here',
    'call without a reliable session',
  ],
];

/** The protocol that a namespace belongs to and what works in its place; undefined if it is of no protocol listed here. */
export function protocolOf(
  namespace: string,
): { readonly told: string; readonly instead: string } | undefined {
  const [, told, instead] = protocols.find(([pattern]) => pattern.test(namespace)) ?? [];
  return told === undefined || instead === undefined ? undefined : { told, instead };
}
