"""Exported programs; symbolic sizes are values of them by the primitive that is imported here."""

from ..ops.dim_values import dim_as_value_p as dim_as_value_p
