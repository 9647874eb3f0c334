"""What `vjp(...)[1].with_refs` takes and returns besides references."""

from ._src.api.accumulation import DidntWant as DidntWant
from ._src.api.accumulation import DontWant as DontWant
from ._src.api.accumulation import GradRef as GradRef
from ._src.api.accumulation import GradValue as GradValue
