"""The one decorator of all kernels: compiled without the GIL, cached under a hash of all kernel sources.

Numba's own cache looks only at the file a function stands in, so that an edited helper would leave its callers
compiled with the old code. Here the cache folder's name is a hash of every source that a kernel may call, so any
edit compiles anew. With ``NUMBA_DISABLE_JIT=1`` the same functions run as ordinary Python.
"""

import functools
import hashlib
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import Linkage
from numba.core import cgutils, config, errors, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

_PACKAGE = Path(__file__).resolve().parent.parent
# Folders below hf_env with kernels; a kernel elsewhere (agents/scripted) is keyed by these, its own folder and the
# folders with kernels that its own imports from (agents/search plays agents/scripted).
_KERNEL_FOLDERS = ("kernels", "engine", "observation")
_IMPORTED = re.compile(r"^from (\w+(?:\.\w+)+) import", re.MULTILINE)
_CACHE_LINE = 64
# state.HOT_BYTES, rounded up to whole cache lines.
_PREFETCH_BYTES = 1600
INTERPRETED = bool(config.DISABLE_JIT)


def _folders_of(folder: Path) -> list[Path]:
    """The folders whose sources a kernel in `folder` may be compiled of."""
    folders = [_PACKAGE / name for name in _KERNEL_FOLDERS]
    waiting = [] if folder in folders else [folder]
    while waiting:
        one = waiting.pop()
        folders.append(one)
        for path in sorted(one.glob("*.py")):
            for name in _IMPORTED.findall(path.read_text(encoding="utf-8")):
                # Outside hf_env only: of that the folders with kernels are listed.
                other = _PACKAGE.parent.joinpath(*name.split(".")[:-1])
                if name.startswith("hf_env.") or other in folders or other in waiting or not other.is_dir():
                    continue
                if any("hf_env.kernels.compile" in source.read_text(encoding="utf-8") for source in other.glob("*.py")):
                    waiting.append(other)
    return folders


@functools.cache
def source_hash(folder: Path) -> str:
    """Hash of all kernel sources of hf_env and of `folder`, with the versions that compiled code depends on."""
    digest = hashlib.sha256()
    for one in _folders_of(folder):
        for path in sorted(one.glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    versions = (sys.version, numba.__version__, np.__version__, platform.machine(), str(config.BOUNDSCHECK))
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def cache_folder(folder: Path) -> Path:
    """Where compiled kernels of the sources in `folder` lie: beside the package, else in the user's cache, else in a temporary folder."""
    name = f"kernels-{source_hash(folder)}"
    places = []
    if config.CACHE_DIR:
        places.append(Path(config.CACHE_DIR))
    places.append(_PACKAGE / "__pycache__")
    home_cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    places.append(Path(home_cache) / "hf_env")
    for place in places:
        if _writable(place / name):
            return place / name
    return Path(tempfile.mkdtemp(prefix="hf_env-"))


class _SourceHashLocator(_CacheLocator):
    def __init__(self, py_func, py_file):
        self._file = Path(py_file).resolve()
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)

    def ensure_cache_path(self):
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_cache_path(self):
        return str(cache_folder(self._file.parent))

    def get_source_stamp(self):
        return source_hash(self._file.parent)

    def get_disambiguator(self):
        return f"{self._file.parent.name}{self._line}"


class _Impl(CompileResultCacheImpl):
    _locator_classes = [_SourceHashLocator]


class _Cache(FunctionCache):
    _impl_class = _Impl


# What a kernel may call to make an array, or to be given one back.
_ALLOCATORS = frozenset(("zeros", "empty", "full", "ones", "array", "copy", "dot", "make_workspace"))


class _EntryLibrary(JITCodeLibrary):
    """The machine code of an entry: the kernels that it calls are parts of it that nothing else sees."""

    def _optimize_final_module(self):
        # Internal, what is called from one place is taken into it, and arguments that nobody reads are not passed: of an
        # array three of seven words are read. Functions that others might link to keep both.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class _KernelLibrary(JITCodeLibrary):
    """The code of a kernel: only ever linked into entries, so neither optimised nor made machine code, which took half the time."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self):
        return self.serialize_using_bitcode()

    @property
    def codegen(self):
        return _WithoutEnvironment


class _WithoutEnvironment:
    """In place of the code generator that tells machine code where the Python objects lie that it names: kernels name none."""

    @staticmethod
    def set_env(name, environment):
        pass


def _widened(numba_type):
    numba_type = types.unliteral(numba_type)
    if isinstance(numba_type, types.Integer) and numba_type != types.uint64:
        return types.int64
    return numba_type


# Sums may be taken in another order, which is what lets them use the whole width of the processor's registers; NaN and
# infinity stay what they are. The order is the compiled code's, so results repeat exactly.
_REORDERED = {"reassoc", "contract", "nsz"}


def _compiled(function, callable_from_python, fastmath=False):
    # Without Numba's runtime nothing can be allocated, and no array that is passed on has its references counted: a
    # third less to compile, and atomic additions saved in every call.
    allocates = not _ALLOCATORS.isdisjoint(function.__code__.co_names)
    dispatcher = numba.njit(
        nogil=True, error_model="numpy", no_cpython_wrapper=not callable_from_python, no_cfunc_wrapper=True, _nrt=allocates,
        fastmath=fastmath,
    )(function)  # fmt: skip
    if function.__closure__ is None:  # else its code does not say all of what it does; an entry that calls it is cached
        dispatcher._cache = _Cache(function)
    by_types = dispatcher.get_call_template
    compile_for = dispatcher.compile

    def with_few_types(args, kws):
        # Numba compiles a callee anew for each constant and each width of integer that it is called with; one
        # version serves all. Only uint64 stays, whose arithmetic differs.
        return by_types(tuple(_widened(arg) for arg in args), {name: _widened(arg) for name, arg in kws.items()})

    def compile_at_lower_level(signature):
        # Measured: level 3 unrolls the small loops over kinds, takes half as long again and runs no faster. What only
        # other kernels call is optimised again, in full, within the entry that it ends up in.
        codegen = cpu_target.target_context.codegen()
        with global_compiler_lock:
            level, library_class = config.OPT, codegen._library_class
            config.OPT = type(level)(2 if callable_from_python else 1)
            codegen._library_class = _EntryLibrary if callable_from_python else _KernelLibrary
            try:
                return compile_for(signature)
            finally:
                config.OPT, codegen._library_class = level, library_class

    dispatcher.get_call_template = with_few_types
    dispatcher.compile = compile_at_lower_level
    return dispatcher


def kernel(function):
    """Compile `function` for use by other kernels: nopython, without the GIL, cached by the hash of all kernel sources.

    Without the wrapper that makes it callable from Python, which would take a third of the time to compile. Calling one
    from Python ends the process: use an `entry`.
    """
    return function if INTERPRETED else _compiled(function, callable_from_python=False)


def entry(function):
    """As `kernel`, callable from Python too."""
    return function if INTERPRETED else _compiled(function, callable_from_python=True)


def numeric_kernel(function):
    """As `kernel`, for arithmetic on floats: sums are taken in whatever order is fastest."""
    return function if INTERPRETED else _compiled(function, callable_from_python=False, fastmath=_REORDERED)


def numeric_entry(function):
    """As `entry`, for arithmetic on floats: sums are taken in whatever order is fastest."""
    return function if INTERPRETED else _compiled(function, callable_from_python=True, fastmath=_REORDERED)


def wrapping_kernel(function):
    """`kernel` for functions whose uint64 arithmetic wraps by design: interpreted, NumPy would warn of it."""
    if INTERPRETED:

        @functools.wraps(function)
        def quiet(*args):
            with np.errstate(over="ignore"):
                return function(*args)

        return quiet
    return kernel(function)


if INTERPRETED:

    def copy_record(destination, source):
        """Copy all bytes of one record over another of the same type (records are views into arrays)."""
        for name in destination.dtype.names:
            destination[name] = source[name]

    def clear_record(record):
        """Set all bytes of a record to 0."""
        for name in record.dtype.names:
            record[name] = 0

    def copy_values(destination, at, source, count):
        """destination[at : at + count] = source[:count], both one-dimensional, contiguous and of one dtype."""
        destination[at : at + count] = source[:count]

    def clear_values(destination, at, count):
        """destination[at : at + count] = 0, one-dimensional and contiguous."""
        destination[at : at + count] = 0

    def prefetch_record(record):
        """Ask the processor to fetch the hot part of a game into its cache; does nothing when interpreted."""

    def prefetch_row(values):
        """The same for a row that will be overwritten, one-dimensional and contiguous."""

else:
    # Numba assigns records as one LLVM aggregate, byte by byte: minutes of compilation. A memory copy is one call.

    @intrinsic
    def copy_record(typing_context, destination, source):
        """Copy all bytes of one record over another of the same type (records are views into arrays)."""

        def codegen(context, builder, signature, arguments):
            size = context.get_constant(types.intp, signature.args[0].size)
            cgutils.raw_memcpy(builder, arguments[0], arguments[1], size, 1)
            return context.get_dummy_value()

        return types.void(destination, source), codegen

    @intrinsic
    def clear_record(typing_context, record):
        """Set all bytes of a record to 0."""

        def codegen(context, builder, signature, arguments):
            size = context.get_constant(types.intp, signature.args[0].size)
            cgutils.memset(builder, arguments[0], size, 0)
            return context.get_dummy_value()

        return types.void(record), codegen

    @intrinsic
    def copy_values(typing_context, destination, at, source, count):
        """destination[at : at + count] = source[:count], both one-dimensional, contiguous and of one dtype.

        A loop would be compiled value by value, since the two might overlap; this is one or two moves.
        """
        if destination.dtype != source.dtype:
            raise errors.TypingError("copy_values needs arrays of one dtype")

        def codegen(context, builder, signature, arguments):
            to = context.make_array(signature.args[0])(context, builder, arguments[0])
            of = context.make_array(signature.args[2])(context, builder, arguments[2])
            size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
            place = builder.gep(to.data, [arguments[1]])
            cgutils.raw_memcpy(builder, place, of.data, arguments[3], size)
            return context.get_dummy_value()

        return types.void(destination, types.int64, source, types.int64), codegen

    @intrinsic
    def clear_values(typing_context, destination, at, count):
        """destination[at : at + count] = 0, one-dimensional and contiguous."""

        def codegen(context, builder, signature, arguments):
            to = context.make_array(signature.args[0])(context, builder, arguments[0])
            size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
            place = builder.gep(to.data, [arguments[1]])
            cgutils.memset(builder, place, builder.mul(arguments[2], context.get_constant(types.intp, size)), 0)
            return context.get_dummy_value()

        return types.void(destination, types.int64, types.int64), codegen

    def _prefetch(builder, pointer, offset, to_write):
        """Ask for the cache line that lies so many bytes behind a pointer."""
        word, byte_pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        line = builder.gep(builder.bitcast(pointer, byte_pointer), [offset])
        builder.call(function, [line, word(to_write), word(3), word(1)])

    @intrinsic
    def prefetch_record(typing_context, record):
        """Ask the processor to fetch the hot part of a game into its cache."""

        def codegen(context, builder, signature, arguments):
            for offset in range(0, min(signature.args[0].size, _PREFETCH_BYTES), _CACHE_LINE):
                _prefetch(builder, arguments[0], context.get_constant(types.intp, offset), 0)
            return context.get_dummy_value()

        return types.void(record), codegen

    @intrinsic
    def prefetch_row(typing_context, values):
        """The same for a row that will be overwritten, one-dimensional and contiguous."""

        def codegen(context, builder, signature, arguments):
            row = context.make_array(signature.args[0])(context, builder, arguments[0])
            size = builder.mul(row.nitems, row.itemsize)
            step, zero = context.get_constant(types.intp, _CACHE_LINE), context.get_constant(types.intp, 0)
            with cgutils.for_range_slice(builder, zero, size, step) as (offset, _):
                _prefetch(builder, row.data, offset, 1)
            return context.get_dummy_value()

        return types.void(values), codegen
