"""Export translations as images, HTML pages, TikZ, tables, JSON and word links."""

from attnviz.export.saved_files import FigureOptions, heatmap_html, page_html, save, table
from attnviz.export.tikz import heatmap_tikz

__all__ = ["FigureOptions", "heatmap_html", "heatmap_tikz", "page_html", "save", "table"]
