"""The exceptions that Covector raises."""

from ._src.base.errors import ConcretizationTypeError as ConcretizationTypeError
from ._src.base.errors import ImpureFunctionError as ImpureFunctionError
from ._src.base.errors import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from ._src.base.errors import JAXIndexError as JAXIndexError
from ._src.base.errors import JaxprTypeError as JaxprTypeError
from ._src.base.errors import JaxRuntimeError as JaxRuntimeError
from ._src.base.errors import JAXTypeError as JAXTypeError
from ._src.base.errors import KeyReuseError as KeyReuseError
from ._src.base.errors import NonConcreteBooleanIndexError as NonConcreteBooleanIndexError
from ._src.base.errors import TracerArrayConversionError as TracerArrayConversionError
from ._src.base.errors import TracerBoolConversionError as TracerBoolConversionError
from ._src.base.errors import TracerIntegerConversionError as TracerIntegerConversionError
from ._src.base.errors import UnexpectedTracerError as UnexpectedTracerError
