// Opens a view in the browser from the server's payload, changes its selection, writes the address, and sends requests
// for what-ifs to the server. The browser owns the selection (see state.js).

import { setPage, writeAddress } from "../address.js";
import { onAcknowledged, sendRequest } from "../outbox/outbox.js";
import { find, states } from "../shared.js";
import { change, closeView, openView } from "../state.js";
import { onMessage, send, viewRoot, viewState } from "../view.js";

/** @param {HTMLElement} root */
function start(root) {
  let asked = 0;
  const ends = [
    onMessage(root, "choose", ({ detail }) => change(root, detail)),
    onMessage(root, "try", ({ detail }) => {
      const { view } = viewState(root);
      if (view) asked = sendRequest(view.request, { identity: view.identity, what_if: detail });
    }),
    onAcknowledged((handled) => {
      if (!asked || handled < asked) return;
      asked = 0;
      send(root, "answered");
    }),
  ];
  /** @type {{ terms?: Promise<() => void>, stop: () => void }} */
  const state = {
    stop: () => {
      state.terms?.then((end) => end());
      closeView(root);
      for (const end of ends) end();
      states.delete(root);
    },
  };
  states.set(root, state);
  return state;
}

/** @param {Mounted<ViewPayload>} mounted */
export default function ({ data, parentElement }) {
  const root = find(parentElement, ".view-state");
  // For a moment Streamlit has the previous view's component in a new container.
  if (!viewRoot(root).classList.contains(`st-key-${data.container}`)) return undefined;
  const state = states.get(root) ?? start(root);
  viewRoot(root).dataset.level = data.level;
  find(root, ".term-card").id = `${viewState(root).name}-term`;
  if (data.page) setPage(data.page);
  openView(root, data);
  if (data.terms.cards.length) {
    state.terms ??= import("../terms/opening.js").then((module) =>
      states.has(root) ? module.listenToTerms(root) : () => {}
    );
  }
  writeAddress();
  return state.stop;
}
