"""Export translations: images, lecture pages, TikZ, tables, links."""

from attnviz.export.files import Look, save
from attnviz.export.html_table import heatmap_html
from attnviz.export.lecture import lecture_html
from attnviz.export.tikz import heatmap_tikz

__all__ = ["Look", "heatmap_html", "heatmap_tikz", "lecture_html", "save"]
