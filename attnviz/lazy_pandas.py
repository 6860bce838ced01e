"""The names of pandas that tables need, imported at the first use of one; a lock for that import.

pandas takes 65 MiB together with pyarrow, which it imports, and half a second. The pictures of a page need neither.

Code that makes a Plotly figure or its JSON holds `import_lock`: Plotly uses pandas even while another thread still
imports it.
"""

import threading
from typing import TYPE_CHECKING, Any

import_lock = threading.RLock()
"""Held while pandas is imported, and while Plotly makes a figure or its JSON.

Plotly 7.1 takes pandas from `sys.modules` although another thread may still be importing it (plotly.py issue 2433).
"""

if TYPE_CHECKING:
    from pandas import NA as NA
    from pandas import DataFrame as DataFrame
    from pandas import Index as Index
    from pandas import MultiIndex as MultiIndex
    from pandas import RangeIndex as RangeIndex
    from pandas import Series as Series
    from pandas import api as api
    from pandas import array as array
    from pandas import concat as concat
    from pandas import isna as isna
else:

    def __getattr__(name: str) -> Any:
        with import_lock:
            import pandas

        return getattr(pandas, name)
