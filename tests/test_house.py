"""How the package is built: what imports what, and who uses whose inside.

`ALLOWED_...` name what breaks a rule today. They only shrink: an entry that is no longer needed
fails as well.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import manyhands

ROOT = Path(manyhands.__file__).parent
# Folder -> what its modules may not import while they are imported themselves.
FORBIDDEN = {
    "core": ("envs", "wrappers", "baselines", "viewer", "integrations"),
    "envs": ("wrappers", "baselines", "viewer", "integrations"),
    "wrappers": ("envs", "baselines", "viewer", "integrations"),
    "baselines": ("viewer", "integrations"),
    "viewer": ("wrappers", "baselines", "integrations"),
    "integrations": ("envs", "baselines", "viewer"),
    "web": ("envs", "wrappers", "baselines", "viewer", "integrations"),
}
HEAVY = (
    "starlette",
    "uvicorn",
    "PIL",
    "pygame",
    "mujoco",
    "optax",
    "flax",
    "aiohttp",
    "imageio",
    "torch",
)


@functools.cache
def modules() -> dict[str, tuple[Path, ast.Module]]:
    """Name -> (file, syntax tree) of every module of the package."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path, ast.parse(path.read_text())
    return found


def room(module: str) -> str:
    """The package that a module belongs to: `core`, `envs.kitchen`, `wrappers`, ..., or the module
    itself where it lies in none."""
    parts = module.split(".")[1:]
    return ".".join(parts[: 2 if parts[:1] == ["envs"] else 1])


def package_of(module: str) -> list[str]:
    """What relative imports of a module begin from."""
    parts = module.split(".")
    return parts if modules()[module][0].name == "__init__.py" else parts[:-1]


def for_types(test: ast.expr) -> bool:
    """Whether a condition is `TYPE_CHECKING` or `typing.TYPE_CHECKING`."""
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def walk(tree: ast.AST, functions: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and for_types(node.test):
            yield from walk(ast.Module(node.orelse, []), functions)
            continue
        yield node
        if functions or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from walk(node, functions)


@functools.cache
def nodes(module: str, functions: bool = True) -> list[ast.AST]:
    """The nodes of a module but those for types alone, and those inside functions only if asked."""
    return list(walk(modules()[module][1], functions))


def imported(module: str, functions: bool = True) -> Iterator[tuple[str, str, str]]:
    """(module, member, as) of each import; the member is "" where a module is imported whole."""
    for node in nodes(module, functions):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, "", alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                start = package_of(module)
                base = ".".join([*start[: len(start) - node.level + 1], *filter(None, [base])])
            for alias in node.names:
                if f"{base}.{alias.name}" in modules():
                    yield f"{base}.{alias.name}", "", alias.asname or alias.name
                else:
                    yield base, alias.name, alias.asname or alias.name


def shrinking(found: set[str], allowed: set[str]) -> None:
    """That exactly what is allowed was found."""
    assert not found - allowed, "new: " + "; ".join(sorted(found - allowed))
    assert not allowed - found, "no longer needed, delete: " + "; ".join(sorted(allowed - found))


# ---- imports -------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_imports_run_one_way(folder):
    for module in modules():
        if not module.startswith(f"manyhands.{folder}."):
            continue
        for target, _, _ in imported(module, functions=False):
            where = target.split(".")
            assert not (where[0] == "manyhands" and where[1:2] and where[1] in FORBIDDEN[folder]), (
                f"{module} imports {target}"
            )
            if folder == "core":
                assert where[0] not in HEAVY, f"{module} imports {target}"


def test_importing_the_package_is_light():
    code = f"import manyhands, sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent, check=True
    )
    assert done.stdout.strip() == "[]"


# Packages whose modules import each other in a circle.
ALLOWED_CIRCLES: set[str] = set()


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of more than one node that reach each other (Tarjan 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for after in sorted(graph[node]):
            if after not in order:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], order[after])
        if low[node] == order[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1 or node in graph[node]:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return sorted(found)


def test_no_modules_import_each_other():
    """Counting imports inside functions. What is loaded by its name as a string is left out: the
    text and drawing of an environment, and entry points."""
    graph = {
        module: {target for target, _, _ in imported(module) if target in modules()}
        for module in modules()
    }
    found = circles(graph)
    print(*(" <-> ".join(group) for group in found), sep="\n")  # shown where it fails
    shrinking({room(module) for group in found for module in group}, ALLOWED_CIRCLES)


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}}
    assert circles(graph) == [["b", "c"], ["e"]]


# ---- privacy -------------------------------------------------------------------------------------

# "user: member" of what begins with an underscore and belongs to another package.
ALLOWED_PRIVATE: set[str] = set()
# Members of named tuples, which are public, and of what JAX compiles.
NOT_OURS = {"_replace", "_asdict", "_fields", "_make", "_cache_size"}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_version"


@functools.cache
def defined(of: str) -> set[str]:
    """Every name that a package itself gives to something."""
    found = set()
    for module, (_, tree) in modules().items():
        if room(module) != of:
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def private_uses(module: str) -> Iterator[str]:
    """Private members of other packages that a module imports, or reaches through a module or an
    object. What a class inherits is its own."""
    known: dict[str, str] = {}  # a name in this module -> the module that it stands for
    for target, member, name in imported(module):
        if not target.startswith("manyhands"):
            continue
        foreign = room(target) != room(module)
        if not member:
            known[name] = target
        if foreign and (private(member) or private(target.rpartition(".")[2])):
            yield f"{module}: {target}{'.' * bool(member)}{member}"
    for node in nodes(module):
        if not (isinstance(node, ast.Attribute) and private(node.attr)):
            continue
        owner = ast.unparse(node.value)
        if room(known.get(owner, module)) != room(module):
            yield f"{module}: {known[owner]}.{node.attr}"
        elif node.attr not in defined(room(module)) | NOT_OURS and owner not in ("self", "cls"):
            yield f"{module}: {owner}.{node.attr}"


def test_no_package_uses_the_inside_of_another():
    shrinking({use for module in modules() for use in private_uses(module)}, ALLOWED_PRIVATE)


# ---- environments are asked by their contract ----------------------------------------------------

# What an environment is called where somebody asks whether it has something.
ENVIRONMENTS = {"env", "game", "inner", "board", "court", "kitchen", "world", "self.env"}
ENVIRONMENTS |= {"self._env", "self.game", "self._game", "base", "wrapped", "environment"}
ENVIRONMENTS |= {f"type({name})" for name in ENVIRONMENTS}
# "module: hasattr(env, name)"
ALLOWED_GUESSES: set[str] = set()


def guesses(module: str) -> Iterator[str]:
    for node in nodes(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id not in ("getattr", "hasattr") or len(node.args) < 2:
            continue
        asked = ast.unparse(node.args[0])
        literal = isinstance(node.args[1], ast.Constant)
        if literal and asked in ENVIRONMENTS:
            yield f"{module}: {node.func.id}({asked}, {ast.unparse(node.args[1])})"


def test_no_member_of_an_environment_is_guessed():
    """Members are named on `Env`, with defaults; a kind of environment is found by `unwrap`."""
    shrinking({guess for module in modules() for guess in guesses(module)}, ALLOWED_GUESSES)


# ---- size ----------------------------------------------------------------------------------------

LONGEST = 900  # lines of a file
DATA = {"envs/craftworld/sprites.py"}  # pictures, written as letters
ALLOWED_LONG: set[str] = set()


def test_files_are_short():
    found = {
        path.relative_to(ROOT).as_posix()
        for path, _ in modules().values()
        if len(path.read_text().splitlines()) > LONGEST
    }
    shrinking(found - DATA, ALLOWED_LONG)
