"""Looking for random keys that are used twice: it is part of Covector, and a flag switches it on.

>>> import covector as cv
>>> with cv.debug_key_reuse(True):
...     key = cv.random.key(0)
...     first = cv.random.normal(key)
...     try:
...         second = cv.random.normal(key)
...     except cv.errors.KeyReuseError as error:
...         print("refused")
refused
"""

from .._src.base.errors import KeyReuseError as KeyReuseError
