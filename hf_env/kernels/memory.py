"""Copying and clearing records and rows, reading them by number, and fetching them ahead, as instructions that Numba lacks."""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

from hf_env.kernels.mode import INTERPRETED

_CACHE_LINE = 64
_WORD_BYTES = 4
# state.HOT_BYTES, rounded up to whole cache lines.
_PREFETCH_BYTES = 1600

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

    def word(record, index):
        """The index-th int32 of a record's bytes as int64, for a loop over fields; the index is not checked."""
        return int(np.frombuffer(record.tobytes(), np.int32, 1, _WORD_BYTES * int(index))[0])

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

    @intrinsic
    def word(typing_context, record, index):
        """The index-th int32 of a record's bytes as int64, for a loop over fields; the index is not checked."""

        def codegen(context, builder, signature, arguments):
            words = builder.bitcast(arguments[0], ir.IntType(8 * _WORD_BYTES).as_pointer())
            value = builder.load(builder.gep(words, [arguments[1]]), align=_WORD_BYTES)
            return builder.sext(value, ir.IntType(64))

        return types.int64(record, types.int64), codegen

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
