"""Where the compiler is to let parts of programs be computed."""

from .._src.experimental.attributes import compute_on as compute_on
