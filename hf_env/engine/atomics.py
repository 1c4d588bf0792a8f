"""Words of memory that several threads share: what one wrote before it stored a word, another sees that has loaded it.

All in one order for all threads (sequentially consistent). Interpreted there is one thread, and they are plain.
"""

import platform
import sys

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from hf_env.engine.jit import INTERPRETED

_ON_X86 = platform.machine().lower() in ("x86_64", "amd64")

if INTERPRETED:

    def load_word(words, at):
        """words[at] of an int64 array, one-dimensional and contiguous."""
        return words[at]

    def store_word(words, at, value):
        """words[at] = value."""
        words[at] = value

    def add_to_word(words, at, value):
        """words[at] += value; what it was before."""
        before = words[at]
        words[at] += value
        return before

    def pause():
        """Tell the processor that this is a loop that waits."""

    def give_way():
        """Let another thread have the core, if one is ready."""

else:

    def _pointer(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.gep(array.data, [arguments[1]])

    @intrinsic
    def load_word(typing_context, words, at):
        """words[at] of an int64 array, one-dimensional and contiguous."""

        def codegen(context, builder, signature, arguments):
            return builder.load_atomic(_pointer(context, builder, signature, arguments), "seq_cst", 8)

        return types.int64(words, types.int64), codegen

    @intrinsic
    def store_word(typing_context, words, at, value):
        """words[at] = value."""

        def codegen(context, builder, signature, arguments):
            builder.store_atomic(arguments[2], _pointer(context, builder, signature, arguments), "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(words, types.int64, types.int64), codegen

    @intrinsic
    def add_to_word(typing_context, words, at, value):
        """words[at] += value; what it was before."""

        def codegen(context, builder, signature, arguments):
            return builder.atomic_rmw("add", _pointer(context, builder, signature, arguments), arguments[2], "seq_cst")

        return types.int64(words, types.int64, types.int64), codegen

    @intrinsic
    def pause(typing_context):
        """Tell the processor that this is a loop that waits."""

        def codegen(context, builder, signature, arguments):
            if _ON_X86:
                function_type = ir.FunctionType(ir.VoidType(), [])
                builder.call(cgutils.get_or_insert_function(builder.module, function_type, "llvm.x86.sse2.pause"), [])
            return context.get_dummy_value()

        return types.void(), codegen

    @intrinsic
    def give_way(typing_context):
        """Let another thread have the core, if one is ready."""

        def codegen(context, builder, signature, arguments):
            if sys.platform != "win32":  # whose C library has none
                function_type = ir.FunctionType(ir.IntType(32), [])
                builder.call(cgutils.get_or_insert_function(builder.module, function_type, "sched_yield"), [])
            return context.get_dummy_value()

        return types.void(), codegen
