"""The one decorator of all kernels: compiled without the GIL, cached under a hash of all kernel sources.

With ``NUMBA_DISABLE_JIT=1`` the same functions run as ordinary Python, with ``HF_ENV_PLAIN_NUMBA=1`` by stock Numba
(``hf_env.kernels.mode``). This module is the face of the folder: what kernels are made of is imported from here.
"""

import functools

import numba
import numpy as np
from llvmlite.binding import Linkage
from numba.core import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target

from hf_env.kernels.cache import KernelCache, cache_folder, source_hash
from hf_env.kernels.memory import clear_record, clear_values, copy_record, copy_values, prefetch_record, prefetch_row
from hf_env.kernels.mode import INTERPRETED, PLAIN

__all__ = [
    "INTERPRETED",
    "PLAIN",
    "cache_folder",
    "clear_record",
    "clear_values",
    "copy_record",
    "copy_values",
    "entry",
    "kernel",
    "numeric_entry",
    "numeric_kernel",
    "prefetch_record",
    "prefetch_row",
    "source_hash",
    "wrapping_kernel",
]

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


class _KernelDispatcher(CPUDispatcher):
    """A kernel: it has no wrapper that Python could call, and without this such a call would end the process."""

    def __call__(self, *arguments, **keywords):
        raise TypeError(f"{self.py_func.__name__} is a kernel, which only kernels can call; from Python call an entry")


def _compiled(function, callable_from_python, fastmath=False):
    if PLAIN:
        return numba.njit(nogil=True, error_model="numpy", fastmath=fastmath, cache=function.__closure__ is None)(function)
    # Without Numba's runtime nothing can be allocated, and no array that is passed on has its references counted: a
    # third less to compile, and atomic additions saved in every call.
    allocates = not _ALLOCATORS.isdisjoint(function.__code__.co_names)
    dispatcher = numba.njit(
        nogil=True, error_model="numpy", no_cpython_wrapper=not callable_from_python, no_cfunc_wrapper=True, _nrt=allocates,
        fastmath=fastmath,
    )(function)  # fmt: skip
    if function.__closure__ is None:  # else its code does not say all of what it does; an entry that calls it is cached
        dispatcher._cache = KernelCache(function)
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
    if not callable_from_python:
        dispatcher.__class__ = _KernelDispatcher
    return dispatcher


def kernel(function):
    """Compile `function` for use by other kernels: nopython, without the GIL, cached by the hash of all kernel sources.

    Without the wrapper that makes it callable from Python, which would take a third of the time to compile. From Python
    call an `entry`; calling a kernel raises TypeError.
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
