// Receives the translation of a view from the server; the browser owns the selection in it (see state.js).

import { givePage, writeAddress } from "../address.js";
import { ask, onAcknowledged } from "../outbox/outbox.js";
import { find, states } from "../shared.js";
import { change, closeView, openView } from "../state.js";
import { listenIn, send, shown, viewOf } from "../view.js";

/** @param {HTMLElement} root */
function start(root) {
  let asked = 0;
  const ends = [
    listenIn(root, "choose", ({ detail }) => change(root, detail)),
    listenIn(root, "try", ({ detail }) => {
      const { view } = shown(root);
      if (view) asked = ask("what_if", { view: view.id, identity: view.identity, what_if: detail });
    }),
    onAcknowledged((handled) => {
      if (!asked || handled < asked) return;
      asked = 0;
      send(root, "answered");
    }),
  ];
  const state = {
    stop: () => {
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
  if (!viewOf(root).classList.contains(`st-key-${data.container}`)) return undefined;
  const state = states.get(root) ?? start(root);
  if (data.page) givePage(data.page.entry, data.page.parameters);
  openView(root, data);
  writeAddress();
  return state.stop;
}
