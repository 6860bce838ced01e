// Opens a view in the browser from the server's payload, changes its selection, writes the address, and sends requests
// for what-ifs to the server. The browser owns the selection (see state.js).

import { component } from "../component.js";
import { setPage, writeAddress } from "../address.js";
import { sendRequest } from "../outbox/outbox.js";
import { find, onPageMessage } from "../elements.js";
import { change, closeView, openView } from "../state.js";
import { listenToTerms } from "../terms/card.js";
import { onMessage, send, viewRoot, viewState } from "../view.js";

const mount = component(".view-state", {
  start(/** @type {OpenedView} */ { root, signal }) {
    let asked = 0;
    onMessage(root, "choose", ({ detail }) => change(root, detail), signal);
    onMessage(root, "try", ({ detail }) => {
      const { view } = viewState(root);
      if (view) asked = sendRequest(view.request, { identity: view.identity, what_if: detail });
    }, signal);
    onPageMessage("handled", ({ detail: handled }) => {
      if (!asked || handled < asked) return;
      asked = 0;
      send(root, "answered");
    }, signal);
    signal.addEventListener("abort", () => closeView(root));
  },
  take(state) {
    const { root, data, signal } = state;
    viewRoot(root).dataset.level = data.level;
    find(root, ".term-card").id = `${viewState(root).name}-term`;
    if (data.page) setPage(data.page);
    openView(root, data);
    if (data.terms.cards.length && !state.explains) {
      state.explains = true;
      listenToTerms(root, signal);
    }
    writeAddress();
  },
});

/** @param {Mounted<ViewPayload>} mounted */
export default function (mounted) {
  const { data, parentElement } = mounted;
  // For a moment Streamlit has the previous view's component in a new container.
  if (viewRoot(parentElement).classList.contains(`st-key-${data.container}`)) return mount(mounted);
}
