"""Measure whether the tests notice faults: change the code at random places, and run the tests of each changed module.

    python -m tests.mutants [--seed N] [--count N] [--only TEXT] [AREA ...]
    python -m tests.mutants mends

The first prints which of `--count` random faults (mutants) of each area the tests find, and the first test that did;
`--only` tries out those again that match a regular expression. The second brings thirty faults back that the program
once had (`tests/mends.py`), each by undoing its mend, and runs the test that must fail.
Both work in a temporary copy of the repository, one process after another.
"""

import argparse
import ast
import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "pandas", "plotly.graph_objects", "pyarrow", "sacrebleu", "torch")
"""What nearly every test imports: once here, before a process is forked for each fault."""
AREAS: dict[str, dict[str, str]] = {
    "decoding": {
        "decoding/search": ("decoding/random_networks decoding/search decoding/beam_tree importing/checkpoints"),
        "decoding/sentences decoding/applied_interventions": (
            "decoding/random_networks decoding/search decoding/interventions importing/checkpoints"
        ),
        "decoding/by_architecture": (
            "decoding/beam_tree decoding/random_networks decoding/interventions decoding/search importing/checkpoints"
        ),
        "decoding/attribution": "decoding/attribution",
    },
    "posterior": {
        "analysis/posterior": "analysis/attributions figures/attributions",
        "corpora/batch_posterior": "corpora/analyser",
    },
    "alignment": {
        "analysis/measures evaluation/alignment evaluation/file_links evaluation/scoring evaluation/two_files": (
            "analysis/measures evaluation/alignment evaluation/scoring evaluation/two_files "
            "evaluation/head_finder public_interface"
        )
    },
    "formats": {
        "importing/attention_reader importing/format importing/records importing/sentence_pair importing/formats/*": (
            "importing/attention_reader importing/hostile_files"
        ),
        "importing/head_dimensions": "importing/attention_reader",
        "importing/bentrevett importing/checkpoint_folder importing/d2l importing/fairseq importing/family "
        "importing/joey importing/opennmt importing/program importing/pytorch_tutorial importing/unsupported": (
            "importing/checkpoints"
        ),
    },
    "hugging-face": {"importing/huggingface importing/huggingface_model": "importing/huggingface"},
    "what-ifs": {
        "trace/interventions trace/what_ifs": (
            "trace/what_ifs trace/interventions analysis/what_if_effects trace/damaged_files decoding/interventions"
        ),
        "analysis/what_if_effects": "analysis/what_if_effects trace/what_ifs",
    },
}
"""Modules of each area, below `attnviz`, and the tests that must notice a fault in them, the quickest first."""
_PAIRS = ["Lt LtE", "Gt GtE", "Eq NotEq", "Is IsNot", "In NotIn", "Add Sub", "Mult Div", "BitOr BitAnd", "And Or"]
NIGHTLY = ("hugging-face",)
"""Areas whose tests are nightly."""
OPERATORS = {getattr(ast, old): getattr(ast, new) for pair in _PAIRS for old, new in permutations(pair.split())}
OPERATORS |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
NAMES = {"min": "max", "any": "all", "argmin": "argmax", "minimum": "maximum", "first": "last", "source": "target"}
NAMES |= {new: old for old, new in NAMES.items()}
COMMUTATIVE = ("min", "max", "minimum", "maximum", "zip")
_FAILED = re.compile(r"^(?:FAILED|ERROR) tests/(\S+)", re.MULTILINE)
MESSAGES = ("gettext", "gettexts", "ngettext", "AttnvizError", "user_error", "warn", "cast", "TypeVar", "getLogger")


@dataclass(frozen=True)
class Fault:
    """One change to one file, and the tests that must notice it."""

    path: str
    where: str
    source: str
    tests: tuple[str, ...]
    """Arguments of pytest."""


def replacements(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901  a table
    """Yield what may stand in place of a node."""
    match node:
        case ast.Compare(left, [op, *more], comparators) if type(op) in OPERATORS:
            for table in (OPERATORS, NEGATED):
                if type(op) in table:
                    yield ast.Compare(left, [table[type(op)](), *more], comparators)
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.AugAssign(target, OPERATORS[type(op)](), value)
            yield ast.Pass()
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OPERATORS[type(op)](), values)
            yield from (ast.BoolOp(op, values[:i] + values[i + 1 :]) for i in range(len(values)))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(float() as value):
            yield from (ast.Constant(other) for other in (2 * value + (not value), value / 2) if other != value)
        case ast.Constant(str() as value) if value.isidentifier():
            yield ast.Constant(f"other_{value}")
        case ast.Slice(lower, upper, step) if lower or upper:
            yield from [ast.Slice(None, upper, step)] * bool(lower) + [ast.Slice(lower, None, step)] * bool(upper)
        case ast.comprehension(target, iterable, [_, *more], is_async):
            yield ast.comprehension(target, iterable, more, is_async)
        case ast.If(test, body, orelse) | ast.While(test, body, orelse) | ast.IfExp(test, body, orelse):
            yield type(node)(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Call(function, [one, two, *more], keywords) if not ast.unparse(function).endswith(COMMUTATIVE):
            yield ast.Call(function, [two, one, *more], keywords)
        case ast.Call(function, arguments, keywords):
            rest = [[other for other in keywords if other is not one] for one in keywords if one.arg != "strict"]
            yield from (ast.Call(function, arguments, others) for others in rest)
        case ast.Name(name) | ast.Attribute(_, name) if name in NAMES:
            yield ast.Name(NAMES[name]) if isinstance(node, ast.Name) else ast.Attribute(node.value, NAMES[name])
        case ast.Expr(ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()


def places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that compute: not those of imports, annotations, docstrings, messages or type checking."""
    skipped: tuple[ast.AST | None, ...] = ()
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Expr(ast.Constant()):
            return
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if name in MESSAGES:
            return
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.FunctionDef(name="__repr__" | "__str__"):
            return
        case ast.Assign([ast.Name("__all__")]) | ast.keyword(arg="strict"):
            return
        case ast.Raise():
            yield node
            return
        case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=annotation):
            skipped = (annotation,)
        case ast.FunctionDef(decorator_list=decorators, returns=returns):
            skipped = (*decorators, returns)
        case ast.ClassDef(decorator_list=decorators, bases=bases):
            skipped = (*decorators, *bases)
    yield node
    for child in ast.iter_child_nodes(node):
        if all(child is not part for part in skipped):
            yield from places(child)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())[:70]


def random_faults(area: str, count: int, seed: int) -> list[Fault]:
    """Return random changes to the modules of an area, no two of them equal."""
    candidates = []
    for modules, names in AREAS[area].items():
        files = (str(Path("tests", name).with_name(f"test_{Path(name).name}.py")) for name in names.split())
        tests = (*files, "-m", "nightly" if area in NIGHTLY else "not nightly")
        for path in sorted(path for name in modules.split() for path in (REPOSITORY / "attnviz").glob(f"{name}.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            candidates += [(path, tests, tree, old, new) for old in places(tree) for new in replacements(old)]
    print(f"{area}: {len(candidates)} possible faults", flush=True)
    faults = []
    for path, tests, tree, old, new in random.Random(f"{area} {seed}").sample(candidates, min(count, len(candidates))):
        where = f"{path.relative_to(REPOSITORY)}:{getattr(old, 'lineno', '?')}: {_text(old)} → {_text(new)}"
        source = ast.unparse(ast.fix_missing_locations(_Replace(old, new).visit(tree)))
        _Replace(new, old).visit(tree)
        faults.append(Fault(str(path.relative_to(REPOSITORY)), where, source, tests))
    return faults


def run_tests(copy: Path, tests: Sequence[str], limit: int) -> tuple[str, float]:
    """Run tests of the copy for at most so many seconds of a processor; return how that ended, and the seconds."""
    if not (process := os.fork()):
        code: int = pytest.ExitCode.INTERNAL_ERROR
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            signal.alarm(20 * limit)  # a fault may wait for ever
            output = os.open(copy / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(copy)
            sys.path[0], sys.dont_write_bytecode = str(copy), True
            sys.modules.pop("tests", None)
            options = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--snapshot-warn-unused", *tests]
            code = pytest.main(options)
        finally:
            sys.stdout.flush()
            os._exit(code)  # the copy, whose `with` this process must not leave, is the other one's
    _, status, usage = os.wait4(process, 0)
    ended = {-number: "timeout" for number in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)} | {0: "SURVIVED"}
    return ended.get(os.waitstatus_to_exitcode(status), "killed"), usage.ru_utime + usage.ru_stime


def try_out(copy: Path, faults: Sequence[Fault]) -> Counter[str]:
    """Print of each fault whether its tests notice it; return the counts."""
    counts: Counter[str] = Counter()
    result, seconds = run_tests(copy, [*dict.fromkeys(one for fault in faults for one in fault.tests)], 3600)
    if result != "SURVIVED":
        sys.exit(f"The tests fail without a fault:\n{(copy / 'output.txt').read_text(encoding='utf-8')}")
    limit = 20 + int(seconds)
    for fault in faults:
        file = copy / fault.path
        file.unlink()
        file.write_text(fault.source, encoding="utf-8")
        result, seconds = run_tests(copy, fault.tests, limit)
        shutil.copy2(REPOSITORY / fault.path, file)  # with its time, so that its bytecode is valid again
        counts[result] += 1
        found_by = _FAILED.findall((copy / "output.txt").read_text(encoding="utf-8"))[:1]
        print(f"{result:<9}{seconds:4.0f} s  {'  by '.join([fault.where, *found_by])}", flush=True)
    return counts


def undone_mends() -> list[Fault]:
    from tests.mends import MENDS

    faults = []
    for mend in MENDS.strip("\n").split("\n\n"):
        head, test, now, *rest = mend.split("\n")
        name, _, fault = head.partition(": ")
        path, now, before = f"attnviz/{name}", now[2:], "".join(rest)[2:]
        source = (REPOSITORY / path).read_text(encoding="utf-8")
        if source.count(now) != 1:
            sys.exit(f"{path} no longer has the text that is to be undone once: {now}")
        faults.append(Fault(path, f"{fault} ({path})", source.replace(now, before), (f"tests/{test}",)))
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"{', '.join(AREAS)} or mends; default: all areas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60, help="faults of each area")
    parser.add_argument("--only", default="", metavar="TEXT", help="regular expression of the faults to try out")
    options = parser.parse_args()
    os.environ |= {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"}
    os.nice(10)
    for library in LIBRARIES:
        importlib.import_module(library)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        # Bytecode is copied too: it stays valid, and a process that compiles the package takes seconds longer.
        shutil.copytree(REPOSITORY, copy, ignore=shutil.ignore_patterns(".git", ".*_cache", "models"))
        (copy / "models").symlink_to(REPOSITORY / "models")
        for area in options.areas or AREAS:
            faults = undone_mends() if area == "mends" else random_faults(area, options.count, options.seed)
            if not (faults := [fault for fault in faults if re.search(options.only, fault.where)]):
                continue
            counts = try_out(copy, faults)
            rows.append((area, len(faults), counts["killed"], counts["timeout"], counts["SURVIVED"]))
    print(f"\n{'area':<12}{'faults':>8}{'killed':>8}{'timeout':>9}{'survived':>10}{'found':>8}")
    for area, count, killed, timeout, survived in rows:
        print(f"{area:<12}{count:>8}{killed:>8}{timeout:>9}{survived:>10}{100 * (count - survived) / count:>7.0f} %")


if __name__ == "__main__":
    main()
