import { type Html, html } from './html.ts';
import { codeBlock } from './layout.ts';
import { href, type View } from './view.ts';

/** The fields of the doctor's form. */
export interface DoctorForm {
  readonly message: string;
  readonly contentType: string;
  readonly action: string;
}

/** Reads the fields of the doctor's form. A missing field is empty. */
export function readDoctorForm(body: Buffer): DoctorForm {
  const fields = new URLSearchParams(body.toString());
  const textOf = (name: string): string => fields.get(name) ?? '';
  return { message: textOf('message'), contentType: textOf('type'), action: textOf('action') };
}

/**
 * Renders the doctor's page: a form for a failing message, and the findings. It works without script, and nothing is
 * stored.
 */
export function doctorPage(view: View, form: DoctorForm | undefined): Html {
  const { texts, site, up, chosen } = view;
  const say = texts.say;
  const action = `${up}${site.folder}/-/doctor${chosen === undefined ? '' : `?lang=${chosen}`}`;
  return html`
    <p class="crumbs"><a href=${href(view, '')}>${say('operation.all')}</a></p>
    <h1>${say('doctor.title')}</h1>
    <p>${say('doctor.words')}</p>
    <form class="form" method="post" action=${action} autocomplete="off">
      <div class="field">
        <label for="type">Content-Type</label>
        <input id="type" name="type" spellcheck="false" value=${form?.contentType ?? 'text/xml; charset=utf-8'} />
      </div>
      <div class="field">
        <label for="action">SOAPAction</label>
        <input id="action" name="action" spellcheck="false" value=${form?.action ?? ''} />
      </div>
      <div class="field">
        <label for="message">${say('doctor.message')}</label>
        <textarea id="message" name="message" rows="14" spellcheck="false" required>${form?.message ?? ''}</textarea>
      </div>
      <div><button class="main" type="submit">${say('doctor.button')}</button></div>
    </form>
    ${form !== undefined && explanation(view, form)}
  `;
}

function explanation({ site, texts }: View, { message, contentType, action }: DoctorForm): Html {
  const say = texts.say;
  const { findings, more, corrected, operation } = site.doctor().explain({
    // browsers send line breaks of forms as CR LF
    body: Buffer.from(message.replaceAll('\r\n', '\n')),
    headers: { 'content-type': contentType || undefined, soapaction: action || undefined },
  });
  return html`
    <h2 id="findings">${say('doctor.findings')}</h2>
    ${operation !== undefined && html`<p>${say('doctor.operation', { name: operation })}</p>`}
    ${findings.length === 0 && html`<p class="status good">${say('doctor.fine')}</p>`}
    <ol class="findings">
      ${findings.map(
        ({ severity, at, message: why, fix }) => html`<li class=${severity}>
          ${at !== undefined && html`<span class="badge">${say('doctor.at', { line: at.line, column: at.column })}</span> `}
          ${why}${fix !== undefined && html`<br /><code>${fix}</code>`}
        </li>`,
      )}
    </ol>
    ${more > 0 && html`<p>${say('doctor.more', { count: more })}</p>`}
    ${
      corrected !== undefined &&
      html`<h2 id="corrected">${say('doctor.corrected')}</h2>
        ${!corrected.isTaken && html`<p>${say('doctor.notTaken')}</p>`}
        <p><code>Content-Type: ${corrected.contentType}</code>
          ${corrected.soapAction !== undefined && html`<br /><code>SOAPAction: ${corrected.soapAction}</code>`}</p>
        ${codeBlock(corrected.text, say('doctor.corrected'))}`
    }
  `;
}
