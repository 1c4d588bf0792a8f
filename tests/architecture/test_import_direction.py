"""engine <- observation <- adapters <- agents <- training, read from the syntax trees; and who may see which library."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("hf_env", "agents", "training")
STANDARD = "standard"
# By the longest prefix of a module's name that is listed: what it may import, by prefix. STANDARD: the standard library.
MAY_IMPORT = {
    "hf_env.kernels": (STANDARD, "numpy", "numba", "llvmlite", "hf_env.kernels"),
    "hf_env.engine": (STANDARD, "numpy", "hf_env.engine", "hf_env.kernels"),
    "hf_env.vector": (STANDARD, "numpy", "gymnasium", "hf_env"),
    "hf_env.seeds": (STANDARD, "numpy", "hf_env.engine"),
    "hf_env.rules": (
        STANDARD,
        "numpy",
        "pydantic",
        "tomli_w",
        "hf_env.rules",
        "hf_env.engine.cards",
        "hf_env.engine.state",
        "hf_env.suggest",
        "hf_env.files",
    ),
    "hf_env.suggest": (STANDARD,),
    "hf_env.files": (STANDARD,),
    "hf_env.reading": (STANDARD, "numpy", "pydantic", "hf_env.files", "hf_env.rules.errors"),
    "hf_env.fields": (STANDARD, "pydantic", "hf_env.rules", "hf_env.suggest"),
    "hf_env.actions": (STANDARD, "hf_env.engine.action_ids", "hf_env.engine.cards", "hf_env.suggest"),
    "hf_env.observation": (STANDARD, "numpy", "hf_env.kernels", "hf_env.engine", "hf_env.rules", "hf_env.observation"),
    "hf_env.observation.document": (STANDARD, "hf_env.actions", "hf_env.engine", "hf_env.observation", "hf_env.rules"),
    "hf_env": (STANDARD, "numpy", "gymnasium", "pettingzoo", "rich", "hf_env"),
    "hf_env.rendering": (STANDARD, "numpy", "PIL", "hf_env"),
    "hf_env.rendering.video": (STANDARD, "PIL", "imageio_ffmpeg"),
    "agents": (STANDARD, "numpy", "rich", "hf_env", "agents"),
    "agents.neural": (STANDARD, "numpy", "torch", "safetensors", "hf_env", "agents"),
    "agents.neural.base": (STANDARD, "torch", "pydantic", "hf_env"),
    "agents.neural.schema": (STANDARD, "pydantic", "hf_env"),
    # It limits the threads of the BLAS that Numba calls.
    "agents.neural.ranks.fused": (STANDARD, "numpy", "torch", "scipy", "threadpoolctl", "hf_env", "agents"),
    "agents.registry": (STANDARD, "agents", "hf_env.suggest"),
    "training": None,  # anything
}


def modules() -> dict[str, Path]:
    """Every module of the three packages by name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, name: str) -> set[str]:
    """Full names of the modules that a file imports anywhere, in functions and for type checking too."""
    is_package = path.name == "__init__.py"
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = name.split(".")[: len(name.split(".")) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            # `from package import module` imports the module.
            found |= {f"{base}.{alias.name}" if (ROOT / base.replace(".", "/")).is_dir() else base for alias in node.names}
    return found


def rule_for(name: str) -> tuple[str, ...] | None:
    """What a module may import."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in MAY_IMPORT:
            return MAY_IMPORT[prefix]
    raise KeyError(name)


def allowed(imported: str, prefixes: tuple[str, ...]) -> bool:
    """Whether an import is among the prefixes."""
    if imported.split(".")[0] in sys.stdlib_module_names:
        return STANDARD in prefixes
    return any(imported == prefix or imported.startswith(prefix + ".") for prefix in prefixes)


def test_the_check_sees_the_modules_and_their_imports():
    found = modules()
    assert {"hf_env", "hf_env.vector.step", "agents.scripted.greedy.choose", "training.learning.ppo"} <= set(found)
    assert "hf_env.observation.encoder" in imports(found["hf_env.vector.step"], "hf_env.vector.step")
    assert "hf_env.engine.action_ids" in imports(found["hf_env.actions"], "hf_env.actions")
    assert "numba" in imports(found["hf_env.kernels.compile"], "hf_env.kernels.compile")


@pytest.mark.parametrize("name", modules())
def test_imports_go_one_way(name):
    prefixes = rule_for(name)
    if prefixes is None:
        return
    wrong = [imported for imported in imports(modules()[name], name) if not allowed(imported, prefixes)]
    assert not wrong, f"{name} must not import {wrong}"


def test_every_prefix_is_one_of_a_module():
    names = set(modules())
    assert set(MAY_IMPORT) <= names, set(MAY_IMPORT) - names


def test_only_the_engine_decorates_kernels_itself():
    # numba's own decorators would bypass the cache that is keyed by all sources.
    for name, path in modules().items():
        if not name.startswith(("hf_env.kernels.", "training")):
            assert not {i for i in imports(path, name) if i.split(".")[0] in ("numba", "llvmlite")}, name


def test_no_random_module_with_global_state_in_the_environment():
    for name, path in modules().items():
        if name.startswith("hf_env"):
            assert "random" not in imports(path, name), name
            text = path.read_text(encoding="utf-8")
            assert "np.random.seed" not in text and "np.random.rand" not in text, name
