import type { Problem } from '../../gateway/admin/operator-pages.ts';
import { remedyFor } from '../remedy.ts';
import { html } from '../server/html.ts';
import { codeLine } from '../server/layout.ts';
import type { PageParts } from './visit.ts';

/** `/sign-in`: the form for a token. */
export function signIn(): PageParts {
  return {
    title: 'Sign in',
    body: html`<h1>Sign in</h1>
      <p>Paste a token of the token file. The session ends after 30 minutes without a request.</p>
      <form id="sign-in" class="form" novalidate>
        <div class="field">
          <label for="token">Token</label>
          <input type="password" id="token" name="token" autocomplete="off" spellcheck="false" />
        </div>
        <div class="buttons"><button type="submit" class="main">Sign in</button></div>
        <div class="outcome status bad" role="alert"></div>
      </form>
      <noscript><p class="warning">Signing in needs JavaScript. Without it, use the admin API with the token.</p></noscript>
      <h2>Create a token</h2>
      ${codeLine('soapbridge admin-token --name ann --role change', 'Command that creates a token')}
      <p>Add the printed entry to the file in <code>admin.tokens</code>. The gateway reads it within five seconds.</p>`,
  };
}

/** Renders the page of a problem with its remedy. */
export function problemPage(problem: Problem): PageParts {
  const { status, message } = problem;
  return {
    title: `Error ${status}`,
    body: html`<h1>Error ${status}</h1>
      <p>${message}</p>
      <p>${remedyFor(problem)}</p>
      <p><a href="/">Contracts</a></p>`,
  };
}
