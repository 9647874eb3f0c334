"""What the tests of control flow share."""

from tests.compose.conftest import same_as_jax as same_as_jax
