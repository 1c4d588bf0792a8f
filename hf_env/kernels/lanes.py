"""Rows of counts worked on whole: 16 int16 side by side in one register, and sets of actions as bits of an integer.

A loop over the kinds of cards is compiled count by count, with a branch for each that the processor guesses wrongly about
as often as not. These are a few instructions for a whole row, and the same interpreted, there on NumPy arrays.
"""

import numpy as np

from hf_env.kernels.compile import INTERPRETED

NUM_LANES = 16
NUM_BITS = 64

if INTERPRETED:

    def lanes(row):
        """The counts of a row, one-dimensional, contiguous int16; lanes beyond its end hold anything.

        Compiled, 16 counts are read however short the row: it must lie in a record that goes on behind it, or have 16.
        """
        found = np.zeros(NUM_LANES, np.int16)
        found[: len(row)] = row
        return found

    def plus(x, y):
        """X + y, lane by lane."""
        return x + y

    def minus(x, y):
        """X - y, lane by lane."""
        return x - y

    def times(x, factor):
        """Each lane multiplied by an integer."""
        return x * np.int16(factor)

    def at_least(x, threshold, count):
        """Bits of an int64: bit i is set where lane i is `threshold` or more, for i below `count`."""
        return sum(1 << i for i in range(count) if x[i] >= threshold)

    def put_lanes(out, at, x, count):
        """out[at : at + count] = the first lanes; `out`: one-dimensional, contiguous int16.

        Args:
            count: a constant from 8 to 16.
        """
        out[at : at + count] = x[:count]

    def write_bits(out, at, bits):
        """out[at + i] = bit i of an int64, for i = 0..63; `out`: one-dimensional, contiguous int8."""
        for i in range(NUM_BITS):
            out[at + i] = (bits >> i) & 1

    def read_bits(values, at):
        """The int64 whose bit i says whether values[at + i] is not 0, for i = 0..63; `values`: as write_bits' out."""
        return sum(1 << i for i in range(NUM_BITS) if values[at + i])

    def count_bits(bits):
        """How many bits are set."""
        return int(bits).bit_count()

    def lowest_bit(bits):
        """Place of the lowest bit that is set; 64 if none is."""
        return (int(bits) & -int(bits)).bit_length() - 1 if bits else NUM_BITS

else:
    from llvmlite import ir
    from numba.core import errors, types
    from numba.extending import intrinsic, models, register_model

    _SHORT, _WORD = ir.IntType(16), ir.IntType(64)
    _VECTOR = ir.VectorType(_SHORT, NUM_LANES)

    class _Lanes(types.Type):
        def __init__(self):
            super().__init__(name="Lanes")

    _LANES = _Lanes()

    @register_model(_Lanes)
    class _LanesModel(models.PrimitiveModel):
        def __init__(self, manager, numba_type):
            super().__init__(manager, numba_type, _VECTOR)

    def _place(context, builder, array_type, array, at=None):
        """Pointer to an element of a contiguous array."""
        data = context.make_array(array_type)(context, builder, array).data
        return data if at is None else builder.gep(data, [at])

    def _spread(builder, value, vector):
        """A vector whose lanes all hold the int64 value, cut to their width."""
        one = builder.trunc(value, vector.element)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), one, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))

    def _check_row(array_type, dtype):
        if not (isinstance(array_type, types.Array) and array_type.ndim == 1 and array_type.layout == "C" and array_type.dtype == dtype):
            raise errors.TypingError(f"a contiguous row of {dtype} is needed, this is {array_type}")

    @intrinsic
    def lanes(typing_context, row):
        """The counts of a row, one-dimensional, contiguous int16; lanes beyond its end hold anything.

        16 counts are read however short the row: it must lie in a record that goes on behind it, or have 16.
        """
        _check_row(row, types.int16)

        def codegen(context, builder, signature, arguments):
            pointer = builder.bitcast(_place(context, builder, signature.args[0], arguments[0]), _VECTOR.as_pointer())
            return builder.load(pointer, align=2)

        return _LANES(row), codegen

    @intrinsic
    def plus(typing_context, x, y):
        """X + y, lane by lane."""
        return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: builder.add(*arguments)

    @intrinsic
    def minus(typing_context, x, y):
        """X - y, lane by lane."""
        return _LANES(_LANES, _LANES), lambda context, builder, signature, arguments: builder.sub(*arguments)

    @intrinsic
    def times(typing_context, x, factor):
        """Each lane multiplied by an integer."""

        def codegen(context, builder, signature, arguments):
            return builder.mul(arguments[0], _spread(builder, arguments[1], _VECTOR))

        return _LANES(_LANES, types.int64), codegen

    @intrinsic
    def at_least(typing_context, x, threshold, count):
        """Bits of an int64: bit i is set where lane i is `threshold` or more, for i below `count`."""

        def codegen(context, builder, signature, arguments):
            held, threshold, count = arguments
            found = builder.icmp_signed(">=", held, _spread(builder, threshold, _VECTOR))
            bits = builder.zext(builder.bitcast(found, _SHORT), _WORD)
            one = ir.Constant(_WORD, 1)
            return builder.and_(bits, builder.sub(builder.shl(one, count), one))

        return types.int64(_LANES, types.int64, types.int64), codegen

    @intrinsic(prefer_literal=True)
    def put_lanes(typing_context, out, at, x, count):
        """out[at : at + count] = the first lanes; `out`: one-dimensional, contiguous int16.

        Args:
            count: a constant from 8 to 16.
        """
        _check_row(out, types.int16)
        number = count.literal_value

        def codegen(context, builder, signature, arguments):
            # Two stores of 8 that overlap: nothing beyond `count` is touched.
            half = ir.VectorType(_SHORT, 8)
            for first in (0, number - 8):
                chosen = ir.Constant(ir.VectorType(ir.IntType(32), 8), [first + i for i in range(8)])
                part = builder.shuffle_vector(arguments[2], arguments[2], chosen)
                at = builder.add(arguments[1], ir.Constant(_WORD, first))
                pointer = _place(context, builder, signature.args[0], arguments[0], at)
                builder.store(part, builder.bitcast(pointer, half.as_pointer()), align=2)
            return context.get_dummy_value()

        return types.void(out, types.int64, _LANES, count), codegen

    _BYTES = ir.VectorType(ir.IntType(8), NUM_BITS)
    _FLAGS = ir.VectorType(ir.IntType(1), NUM_BITS)

    @intrinsic
    def write_bits(typing_context, out, at, bits):
        """out[at + i] = bit i of an int64, for i = 0..63; `out`: one-dimensional, contiguous int8."""
        _check_row(out, types.int8)

        def codegen(context, builder, signature, arguments):
            pointer = _place(context, builder, signature.args[0], arguments[0], arguments[1])
            values = builder.zext(builder.bitcast(arguments[2], _FLAGS), _BYTES)
            builder.store(values, builder.bitcast(pointer, _BYTES.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(out, types.int64, types.int64), codegen

    @intrinsic
    def read_bits(typing_context, values, at):
        """The int64 whose bit i says whether values[at + i] is not 0, for i = 0..63; `values`: as write_bits' out."""
        _check_row(values, types.int8)

        def codegen(context, builder, signature, arguments):
            pointer = _place(context, builder, signature.args[0], arguments[0], arguments[1])
            found = builder.load(builder.bitcast(pointer, _BYTES.as_pointer()), align=1)
            return builder.bitcast(builder.icmp_unsigned("!=", found, ir.Constant(_BYTES, None)), _WORD)

        return types.int64(values, types.int64), codegen

    @intrinsic
    def count_bits(typing_context, bits):
        """How many bits are set."""
        return types.int64(types.int64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])

    @intrinsic
    def lowest_bit(typing_context, bits):
        """Place of the lowest bit that is set; 64 if none is."""

        def codegen(context, builder, signature, arguments):
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.int64), codegen
