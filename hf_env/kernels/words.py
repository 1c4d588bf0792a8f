"""A record's words by number, for a loop over fields: their names are known only where a kernel is compiled."""

import numpy as np

from hf_env.kernels.compile import INTERPRETED

WORD_BYTES = 4

if INTERPRETED:

    def word(record, index):
        """The index-th int32 of a record's bytes, as int64; the index is not checked."""
        return int(np.frombuffer(record.tobytes(), np.int32, 1, WORD_BYTES * int(index))[0])

else:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic
    def word(typing_context, record, index):
        """The index-th int32 of a record's bytes, as int64; the index is not checked."""

        def codegen(context, builder, signature, arguments):
            words = builder.bitcast(arguments[0], ir.IntType(8 * WORD_BYTES).as_pointer())
            value = builder.load(builder.gep(words, [arguments[1]]), align=WORD_BYTES)
            return builder.sext(value, ir.IntType(64))

        return types.int64(record, types.int64), codegen
