"""What JAX offers as experimental, and Covector too."""

from .._src.api.callbacks import io_callback as io_callback
