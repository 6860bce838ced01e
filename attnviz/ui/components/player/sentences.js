// The two sentences as words that can be clicked. Words are set by textContent, so nothing typed is ever read as markup.

function element(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// A word as its pieces, so that they read as parts of one word; each knows its step or its source piece.
function parts(texts, indices) {
  return texts.map((text, k) => {
    const span = element("span", "piece", text);
    span.dataset.index = indices[k];
    return span;
  });
}

function wordButton({ end }, pieces) {
  const button = element("button", end ? "word end" : "word");
  button.type = "button";
  button.append(...pieces);
  return button;
}

// A click on a word chooses the one of its pieces that the step looks at most; a second click lets go of it.
function sourceWord(word, orders, choose) {
  const button = wordButton(word, parts(word.parts, word.pieces));
  button.onclick = (event) => {
    choose(({ step, source }) => ({
      source: word.pieces.includes(source) ? null : orders[step].find((j) => word.pieces.includes(j)),
    }));
    letGo(event);
  };
  return button;
}

// A click chooses the piece under the pointer; the keyboard, which has no pointer, the first piece of the word.
function targetWord(word, choose) {
  const button = wordButton(word, parts(word.parts, word.steps));
  button.onclick = (event) => {
    const step = Number((event.target.closest(".piece") ?? button.firstElementChild).dataset.index);
    choose(() => ({ step }));
    letGo(event);
  };
  return button;
}

/** Writes both sentences anew, of another translation. */
function buildSentences(root, { source, target, orders }, choose) {
  const lines = [
    [root.querySelector(".source"), source, (word) => sourceWord(word, orders, choose)],
    [root.querySelector(".target"), target, (word) => targetWord(word, choose)],
  ];
  for (const [line, words, button] of lines) {
    line.replaceChildren(...words.flatMap((word) => [...(word.space ? [" "] : []), button(word)]));
  }
}
