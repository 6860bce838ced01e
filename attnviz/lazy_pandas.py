"""The names of pandas that tables need, imported at the first use of one.

pandas takes 65 MiB together with pyarrow, which it imports, and a quarter of a second. The pictures of a page need
neither. A program that draws in several threads imports pandas before it starts them, as the app does (`ui.server`):
Plotly 7.1 takes pandas from `sys.modules` although another thread may still be importing it (plotly.py issue 2433).
"""

from typing import TYPE_CHECKING, Any

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
        import pandas

        return getattr(pandas, name)
