"""Texts of errors of covector.experimental.rnn."""

from __future__ import annotations

from collections.abc import Sequence


def lengths_not_int32(dtype: object) -> str:
    return (
        f"[lstm] `seq_lengths` can only be int32, and is {dtype}. Convert it with "
        "`seq_lengths.astype('int32')`."
    )


def no_dropout(rate: object) -> str:
    return (
        f"[lstm] Dropout not supported in LSTM, and dropout={rate} was given: pass 0, and drop "
        "between layers that are called one by one."
    )


def wrong_count(got: Sequence[int], wanted: int) -> str:
    return (
        f"[lstm] the weights have shape {tuple(got)}, and sizes and layers ask for ({wanted},): "
        "`get_num_params_in_lstm` counts them, and `init_lstm_weight` makes them."
    )
