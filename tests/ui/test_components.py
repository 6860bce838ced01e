"""Component folders: no asset loads from elsewhere, and a component outlives a late cleanup of the mount before."""

from tests.conftest import REPOSITORY
from tests.deno_program import made_by

UI = REPOSITORY / "attnviz" / "ui"


def test_a_late_cleanup_does_not_end_a_newer_mount(tmp_path) -> None:
    """On two quick changes Streamlit cleans up the first mount after the second began: the component stays mounted."""
    mounts = """(() => {
      globalThis.document = Object.assign(new EventTarget(), { adoptedStyleSheets: [] });
      const ended = [], [here, there] = ["here", "there"].map((name) => ({ name, children: [] }));
      globalThis.attnvizModule = () => ({ default: {} });
      const mount = host();
      const [first, second, other] = [here, here, there].map((parentElement) => mount({ parentElement, data: [[]] }));
      for (const { name, children } of [here, there]) {
        children.push({ querySelectorAll: () => (ended.push(name), []) });
      }
      const after = [first, other, second].map((end) => (end(), [...ended]));
      return JSON.stringify(after);
    })()"""
    program = f'import {{ host }} from "{(UI / "components" / "blocks.js").as_uri()}";'
    assert made_by(program, mounts, None, tmp_path) == [[], ["there"], ["there", "here"]]


def test_no_asset_loads_from_another_server_or_parses_text_as_markup() -> None:
    for path in (path for path in UI.rglob("*.*") if path.suffix in (".js", ".css", ".html", ".svg")):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        unsafe = ("http", "//fonts", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
        assert [way for way in unsafe if way in text] == [], path.name
