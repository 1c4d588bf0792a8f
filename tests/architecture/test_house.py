"""The house: no circle of imports, no wide call, no long function or module."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_import_direction import ROOT, imports, modules

MOST_LINES, MOST_ARGUMENTS, MOST_MODULE_LINES = 60, 8, 400
# What is wider or longer, and why.
EXCEPTIONS: dict[str, str] = {
    "agents.neural.ranks.single_row.run_row": "64 lines: a row through the whole network, in the order of its layers",
}


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Name, node and whether it is a method, of every function in a file."""

    def walk(node: ast.AST, prefix: str, in_class: bool) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{prefix}{child.name}", child, in_class
                yield from walk(child, f"{prefix}{child.name}.", False)
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{prefix}{child.name}.", True)
            else:
                yield from walk(child, prefix, in_class)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), "", False)


def num_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> int:
    """Positional arguments; keyword-only options serve the caller by their names and are not counted."""
    given = [*node.args.posonlyargs, *node.args.args]
    return len(given) - (is_method and bool(given) and given[0].arg in ("self", "cls"))


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether click calls it, by the names of its options."""
    return any("option" in ast.unparse(each) or "click" in ast.unparse(each) for each in node.decorator_list)


def test_the_check_sees_functions():
    found = {name: node for name, node, _ in functions(ROOT / "hf_env" / "vector" / "game.py")}
    assert "VectorGame.step" in found and num_arguments(found["VectorGame.step"], True) == 2


@pytest.mark.parametrize("name", modules())
def test_no_function_is_long_or_wide(name):
    for function, node, is_method in functions(modules()[name]):
        place = f"{name}.{function}"
        if place in EXCEPTIONS:
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        assert lines <= MOST_LINES, f"{place} has {lines} lines"
        if not is_command(node):
            assert num_arguments(node, is_method) <= MOST_ARGUMENTS, f"{place} takes {num_arguments(node, is_method)} arguments"


def test_exceptions_are_few_and_there():
    places = {f"{name}.{function}" for name, path in modules().items() for function, _, _ in functions(path)}
    assert set(EXCEPTIONS) <= places and len(EXCEPTIONS) <= 5


def test_no_module_is_long():
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert not {name: length for name, length in lengths.items() if length > MOST_MODULE_LINES}


def eager_imports(path: Path) -> set[str]:
    """Modules of ours that are imported when the file is, not later in a function or for the type checker alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            is_package = (ROOT / node.module.replace(".", "/")).is_dir()
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module} if is_package else {node.module}
    return found


def test_no_circle_of_imports():
    names = modules()
    graph = {name: {other for other in eager_imports(path) if other in names and other != name} for name, path in names.items()}
    # A package that gathers its own modules' names is imported before each of them.
    for name, path in names.items():
        if path.name == "__init__.py":
            graph[name] = {other for other in graph[name] if not other.startswith(name + ".")}

    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])


@pytest.mark.parametrize("name", modules())
def test_no_loop_variable_is_called_one(name):
    for node in ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8"))):
        targets = [node.target] if isinstance(node, ast.For | ast.comprehension) else []
        for target in targets:
            names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
            assert "one" not in names, f"{name}: line {getattr(target, 'lineno', '?')}"


def test_imports_are_read_as_python_reads_them():
    assert "hf_env.engine.state" in imports(modules()["hf_env.vector.game"], "hf_env.vector.game")
