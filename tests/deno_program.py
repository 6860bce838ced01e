"""Run JavaScript of the app in Deno instead of a browser."""

import json
import subprocess
from pathlib import Path
from typing import Any

from deno import find_deno_bin


def made_by(program: str, answer: str, given: Any, folder: Path) -> Any:
    """Run `program` with `given` as JSON input; return the parsed JSON text of the expression `answer`."""
    script = folder / "program.js"
    read = "const given = JSON.parse(await new Response(Deno.stdin.readable).text());"
    script.write_text(f"{read}\n{program}\nconsole.log({answer});\nDeno.exit();\n", encoding="utf-8")
    command = [find_deno_bin(), "run", "--no-remote", "--no-npm", "--no-lock", "--allow-read", script]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
