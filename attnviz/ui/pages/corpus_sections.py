"""Draw the page *Corpus*: choice of a table or upload of a file to measure, plot, rows, link scores, downloads.

A file of sentence pairs, or of another program's attention, is measured by a job on the server, with a progress bar. A
row of the table opens its pair in the step view.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.csv
import streamlit as st

from attnviz import AttnvizError
from attnviz.analysis.comparison import agreement_sentences
from attnviz.analysis.labels import decimal, shorten, significant
from attnviz.analysis.page_texts import TextSection, corpus_measure_names, preset_caption, preset_names
from attnviz.evaluation.scoring import by_record
from attnviz.figures.corpus_figure import MOST_POINTS, histogram, scatter
from attnviz.languages import gettext, ngettext
from attnviz.ui import inputs
from attnviz.ui.blocks import component, message, view_blocks
from attnviz.ui.chrome import go_to
from attnviz.ui.controls import (
    begin_fragment,
    multiple_uploader,
    popover,
    request_button,
    segmented_control,
    select_box,
    text_box,
    uploader,
)
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.examples import SAMPLE, SAMPLE_LINKS, offered_tables
from attnviz.ui.glossary import glossary_box, text_section
from attnviz.ui.inputs import SENTENCE_PAGES, clear_entries, follow_link
from attnviz.ui.pages import corpus_jobs as jobs
from attnviz.ui.pages import corpus_table as table
from attnviz.ui.pages.corpus_jobs import MOST_LINES, MOST_MEGABYTES, CorpusJob, Uploads
from attnviz.ui.pages.corpus_table import choose, chosen, clear_brush, key, show_pairs
from attnviz.ui.selection import set_gold
from attnviz.ui.toolbar import opened_file
from attnviz.ui.view import FilePair, GoldFile
from attnviz.ui.waiting import in_turn

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

_LAST_TABLE, _UPLOAD_ERROR = "corpus_before", "corpus_refused"
"""Session state keys: the finished table shown last; the error of the last file, with the table current then."""
_OPENED = "corpus_opened"
"""Session state key: how many pairs have been opened."""
_PART_ROWS = 200
"""Number of rows that are sent to the browser at once."""

_UPLOAD = "corpus_attention"
"""Session state key: the files whose table was begun last (`Uploads`)."""
_MOST_ATTENTION_MEGABYTES = 16
"""Largest size of an attention file, in megabytes; the command has no limit."""


def corpus_page(model: str) -> None:
    """Draw the page; new tables are measured by the model in the folder `model`."""
    if not chosen(table.TABLE) and not page_session().get(_UPLOAD_ERROR):
        _begin_sample(model)
    job = _current_job()
    running = job is not None and not job.ended  # read once: the job may end at any moment
    if job is not None and not running:
        job = _store_result(job)
    with st.container(key="corpus_opening"):
        text = gettext(
            "This page computes statistics of many sentence pairs at once. For each pair, the model must write "
            "exactly the given French sentence (forced decoding). Sort and search the pairs, select a region of the "
            "plot, or open a pair to see every step of its translation. The sample has 200 pairs; some of its "
            "translations are wrong on purpose."
        )
        with view_blocks("corpus_introduction"):
            text_section(TextSection(gettext("Corpus"), (text,)))
        _table_sources(model)
        with view_blocks("terms"):
            glossary_box("signs", "attention", "writing", "scores")
    error, identity = page_session().get(_UPLOAD_ERROR, ("", ""))
    if error and identity == chosen(table.TABLE):
        _show_error(error)
    if job is None:
        if chosen(table.TABLE):
            _show_error(gettext("The server no longer has this table: upload the file again."))
    elif running:
        _progress(job)
    elif job.done:
        _table(job)
    else:
        _show_error(job.problem)
    table.write_address()


@st.cache_resource(scope="session", on_release=jobs.leave, show_spinner=False)
def _visitor() -> str:
    """Return a random id of this visitor, the same until the session ends."""
    return secrets.token_hex(8)


def _current_job() -> CorpusJob | None:
    return jobs.job_of(_visitor(), chosen(table.TABLE))


def _store_result(ended: CorpusJob) -> CorpusJob | None:
    """Store a finished table; for a failed file, show the error and return the previous table."""
    session = page_session()
    if ended.done:
        session[_LAST_TABLE] = chosen(table.TABLE)
    elif session.get(_LAST_TABLE):
        choose(table.TABLE, session[_LAST_TABLE])
        _store_error(ended.problem)
    return _current_job()


def _table_sources(model: str) -> None:
    sharing = gettext("The link of the table shares your file: whoever has the link can see all its sentence pairs.")
    with st.container(horizontal=True, vertical_alignment="center", key="corpus_ways"):
        request_button(gettext("Take the sample"), partial(_begin_sample, model), type="primary", key="corpus_sample")
        with popover(gettext("Your file"), key="corpus_own"):
            label = gettext("On each line: English, a tab, French")
            uploader(label, partial(_begin, model), key="corpus_own", megabytes=MOST_MEGABYTES)
            st.caption(
                gettext(
                    "A line may also hold only an English sentence; the model then translates this sentence. The file "
                    "may have {lines} lines and {size} MB at most. The file may be .tsv, .txt, .jsonl (pairs with "
                    "links) or .parquet; all but .parquet may be compressed as .gz or .xz. The file stays on this "
                    "server, and is deleted when the server stops. The command attnviz corpus takes files of any size.",
                    lines=MOST_LINES,
                    size=MOST_MEGABYTES,
                )
            )
            st.caption(sharing)
        with popover(gettext("Attention of another program"), key="corpus_foreign"):
            multiple_uploader(
                gettext("Attention weights or word links, of any toolkit"),
                lambda files: _begin_uploads(Uploads(files)),
                key="corpus_foreign",
                megabytes=_MOST_ATTENTION_MEGABYTES,
            )
            st.caption(
                gettext(
                    "The table has one row for each sentence pair, with the entropy, the attention on </s>, the words "
                    "without a link, and the sequences of links shifted by one word. Several files of the same format "
                    "make one table, in the order of the file names. All files together may have at most {lines} "
                    "sentence pairs.",
                    lines=MOST_LINES,
                )
            )
            st.caption(sharing)
    offered, current = offered_tables(), chosen(table.TABLE)
    if offered:
        # The current table may be a visitor's own, which is not among the offered ones.
        other = "" if current in offered else current
        select_box(
            gettext("Table"),
            {other: gettext("A table on this server"), **{name: name for name in offered}},
            key=key(table.TABLE),
            default=other,
            then=partial(show_pairs, "all"),
            labelled=False,
            width=300,
        )


def _begin_sample(model: str) -> None:
    _begin(model, SAMPLE.name, SAMPLE.read_bytes(), SAMPLE_LINKS.read_bytes(), preset="wrong")


def _begin(model: str, name: str, content: bytes, gold: bytes | None = None, *, preset: str = "all") -> None:
    """Measure a file and make its table the current one, with the pairs of a predefined filter."""
    try:
        job = jobs.begin(_visitor(), name, content, model, gold)
    except AttnvizError as error:
        _store_error(str(error))
        return
    _select_table(job.identity, preset)


def _begin_uploads(uploads: Uploads, preset: str = "all") -> None:
    """Measure attention files and make their table the current one, with the pairs of a predefined filter."""
    page_session()[_UPLOAD] = uploads
    _select_table(jobs.begin_attention(_visitor(), uploads).identity, preset)


def _store_error(text: str) -> None:
    """Show an error as long as the current table stays."""
    page_session()[_UPLOAD_ERROR] = text, chosen(table.TABLE)


def _select_table(identity: str, preset: str = "all") -> None:
    """Make another table current, with the pairs of a predefined filter."""
    page_session().pop(_UPLOAD_ERROR, None)
    choose(table.TABLE, identity)
    show_pairs(preset)


def _show_error(text: str) -> None:
    message(text, "corpus_problem")


@st.fragment(run_every=1)
@in_turn()
def _progress(job: CorpusJob) -> None:
    """Draw the progress, until the job has ended."""
    begin_fragment()
    if job.ended:
        st.rerun()

    def cancel() -> None:  # and show the previous table
        jobs.cancel(_visitor(), job)
        choose(table.TABLE, page_session().get(_LAST_TABLE, ""))
        _store_error(gettext("Cancelled."))

    progress, seconds_left = job.progress, job.seconds_left
    with st.container(horizontal=True, vertical_alignment="center", key="corpus_progress"):
        if progress is None:
            st.progress(0.0, gettext("The server is making another table. Your table waits in the queue."))
        else:
            time_text = "" if seconds_left is None else gettext("{seconds} s left", seconds=round(seconds_left))
            count = ngettext("{count} of {all} pairs", "{count} of {all} pairs", progress.done, all=progress.total)
            st.progress(progress.done / max(progress.total, 1), " · ".join(filter(None, (count, time_text))))
        request_button(gettext("Cancel"), cancel, key="corpus_cancel")


def _open_row(job: CorpusJob, row: dict[str, Any]) -> None:
    """Show the pair of a row on the first page, with its gold links.

    That is as imported attention in a table of an attention file, beside the file that this is compared with; else
    force-decoded by the model that measured it. Of what that page shows, model and level of detail stay.
    """
    number = int(row["number"])
    records, place = (table.table_records(job.table, number), 1) if job.records is None else (job.records, number)
    pair = table.corpus_pair(job.table, number, row["source"], row["target"]) if records is None else None
    clear_entries(SENTENCE_PAGES, "", kept=(inputs.MODEL, inputs.DETAIL_LEVEL))
    follow_link({})  # nothing begins with the link of this page
    if pair:
        inputs.open_listed_pair(pair.source, pair.target)
        if pair.gold:
            set_gold(pair.gold, pair.source_words, pair.target_words)
    elif records:
        gold = None
        if scored := job.scored:
            gold = GoldFile.scored(job.gold_name, by_record(scored.gold, scored.places))
        other = None if job.other is None else (job.other_name, job.other)
        opened_file.choose_attention(FilePair(job.name, records, place, other=other, gold=gold))
    go_to("")
    st.rerun()


def _score_box(job: CorpusJob) -> None:
    """Draw the score of an attention file against gold links, and the box that takes a file of gold links."""
    if job.scored:
        error, (low, high) = job.scored.error, job.scored.error.interval
        shares = {"aer": error.aer, "low": low, "high": high}
        shares |= {name: getattr(error, name) for name in ("precision", "recall", "f1")}
        sentence = gettext(
            "Alignment error rate {aer} (95\u00a0% confidence interval, by resampling the pairs: {low} to {high}), "
            "precision {precision}, recall {recall}, F1 {f1}.",
            **{name: decimal(share or 0.0, 3) for name, share in shares.items()},
        )
        st.text(sentence, width="content")
        st.caption(" ".join(job.scored.remarks))
    else:
        label = gettext("Gold links of this table’s pairs, in any format")
        _further_file("gold", gettext("Evaluate with gold links"), label)


def _comparison_box(job: CorpusJob) -> None:
    """Draw how far two attention files agree, or the box that takes the other file."""
    if job.agreement:
        names = (shorten(job.name, 40), shorten(job.other_name, 40))
        with st.container(key="corpus_agreement"):
            st.text(" ".join(agreement_sentences(job.agreement.pairs, names)))
            if job.agreement.remarks:
                st.caption(" ".join(job.agreement.remarks))
    else:
        _further_file(
            "other",
            gettext("Compare with another program"),
            gettext("Attention or links of another program for the same sentence pairs, in any format"),
        )


def _further_file(change: str, title: str, label: str) -> None:
    """Draw the box that takes another file for the uploaded attention, as their "gold" or "other" links."""

    def begin_again(*file: str | bytes) -> None:
        _begin_uploads(replace(page_session()[_UPLOAD], **{change: file}), chosen(table.PRESET))

    if _UPLOAD in page_session():
        with popover(title, key=f"corpus_{change}", type="tertiary"):
            uploader(label, begin_again, key=f"corpus_{change}", megabytes=_MOST_ATTENTION_MEGABYTES)


def _table(job: CorpusJob) -> None:
    """Draw the plots and rows of a finished table."""
    try:
        table_rows = table.load_table(job.table)
    except AttnvizError as error:
        _show_error(str(error))
        return
    with st.container(key="corpus_choices", gap="small"):
        preset = segmented_control(gettext("Show me"), preset_names(), key=key(table.PRESET), default="wrong")
        st.html(f'<p class="explanation">{preset_caption(preset)}</p>')
    names = corpus_measure_names()
    measures = {name: names[name] for name in table.known_measures(table_rows)}
    plot_column, list_column = st.columns([2, 3], gap="medium")
    with list_column:
        search_column, order_column = st.columns(2, vertical_alignment="bottom")
    with search_column:
        placeholder = gettext("Words in source or target")
        text_box(gettext("Search"), key=key(table.QUERY), placeholder=placeholder, single_line=True)
    with order_column:
        _order(measures)
    with plot_column:
        _choose_axes(measures)
        choice = table.current_choice()  # all of it has been chosen above
        matching = table.matching_rows(table_rows, choice)
        _plot(matching, choice, measures)
    with list_column:
        listed = table.listed_rows(matching, choice)
        if job.records is not None:
            _score_box(job)
            _comparison_box(job)
        _summary(job, table_rows, listed, choice)
        if len(listed):
            _rows(job, listed, choice, measures)
            _downloads(job, listed)
        elif query := choice.query.strip():
            st.text(gettext("None of the chosen pairs contains “{query}”.", query=shorten(query, 40)))
            request_button(gettext("Clear the search"), table.clear_search, key="corpus_find_all")


def _choose_axes(measures: Mapping[str, str]) -> None:
    """Draw the choices of two of the `measures` of the table, by name."""
    with st.container(horizontal=True, key="corpus_axes"):
        for axis, label, default in (
            (table.X, gettext("Horizontal"), table.Choice.x),
            (table.Y, gettext("Vertical"), table.Choice.y),
        ):
            previous, first = chosen(axis), default if default in measures else None
            if select_box(label, measures, key=key(axis), default=first, then=clear_brush, width=200) != previous:
                clear_brush()  # this table lacks the chosen measure


def _plot(rows: Any, choice: table.Choice, measures: Mapping[str, str]) -> None:
    """Draw a scatter plot of two measures, or a histogram of one; a selected region filters the pairs."""
    if not len(rows):
        st.caption(gettext("There is no pair to draw."))
        return
    axes = list(dict.fromkeys((choice.x, choice.y)))
    values = [np.asarray(rows[name].to_numpy(zero_copy_only=False), dtype=float) for name in axes]
    names, region = [measures[name] for name in axes], [*chain.from_iterable(choice.brush)]
    if len(axes) == 1:
        spec = histogram(values[0], names[0], selected_region=region)
    else:
        spec = scatter(values[0], values[1], (names[0], names[1]), selected_region=region)
    plot_key = f"corpus_plot_{choice.x}_{choice.y}_{choice.preset}"

    def store_brush() -> None:
        if boxes := page_session()[plot_key].selection.box:  # an empty selection is ignored
            bounds = [(min(boxes[0][axis]), max(boxes[0][axis])) for axis in ("x", "y")]
            choose(table.BRUSH, table.brush_text(tuple(bounds[: len(axes)])))
            choose(table.PART, "1")

    st.plotly_chart(
        spec.figure(theme_name()),
        alt=spec.alt,
        key=plot_key,
        on_select=store_brush,
        selection_mode="box",
        theme=None,
        config={"displayModeBar": False},
    )
    st.caption(
        gettext(
            "Draw a rectangle to list only the pairs inside it. If there are more than {most} pairs, the plot "
            "shows {most} of them.",
            most=MOST_POINTS,
        )
    )


def _summary(job: CorpusJob, table_rows: Any, listed: table.SortedRows, choice: table.Choice) -> None:
    """Draw how many pairs are listed and how many there are, and the button that clears the region."""
    with st.container(horizontal=True, vertical_alignment="center", key="corpus_said"):
        st.text(
            ngettext(
                "{count} of {all} pairs of {name}",
                "{count} of {all} pairs of {name}",
                len(listed),
                all=len(table_rows),
                name=job.name,
            ),
            width="content",
        )
        if job.progress and (count := job.progress.skipped):
            label = gettext("Lines that could not be used: {count}", count=count)
            reasons = [gettext("Line {number}: {reason}.", number=line, reason=reason) for line, reason in job.skipped]
            more = [gettext("{n} more", n=count - len(reasons))] if count > len(reasons) else []
            with st.popover(label, type="tertiary", key="corpus_skipped"):
                st.text("\n".join(reasons + more))
        if choice.brush:
            st.text(gettext("The list shows only the pairs in the selected region."), width="content")
            request_button(gettext("Show all again"), clear_brush, type="tertiary", key="corpus_unbrush")


def _order(measures: Mapping[str, str]) -> None:
    """Draw the choice of the order of the rows."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="corpus_order"):
        orders = {"": gettext("default order"), "number": gettext("line number in the file"), **measures}
        select_box(gettext("Order"), orders, key=key(table.SORT), width=240)
        if chosen(table.SORT):
            segmented_control(gettext("Direction"), {"": "↑", "1": "↓"}, key=key(table.DESCENDING))


def _rows(job: CorpusJob, listed: table.SortedRows, choice: table.Choice, measures: Mapping[str, str]) -> None:
    """Draw a part of the rows; a click opens a pair."""
    session = page_session()
    part = _choose_part(-(-len(listed) // _PART_ROWS))
    shown = listed.part(part * _PART_ROWS, _PART_ROWS)
    columns = {
        "number": st.column_config.NumberColumn(gettext("line"), width=60),
        "file": st.column_config.TextColumn(gettext("file"), width="small"),
        "source": st.column_config.TextColumn(gettext("English"), width="medium"),
        "target": st.column_config.TextColumn(gettext("French"), width="medium"),
    }
    if not table.has_files(shown):
        del columns["file"]
    order = [name for name in (choice.sort, choice.x, choice.y) if name in measures]
    columns |= {name: st.column_config.NumberColumn(measures[name]) for name in (*order, *measures)}
    with st.container(key="corpus_list"):
        event = st.dataframe(
            _in_the_language(shown.select([*columns]).to_pandas(), measures),
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            # A new key after each opened pair clears the selection.
            key=f"corpus_rows_{part}_{session.get(_OPENED, 0)}",
            height=min(520, 38 + 35 * len(shown)),
            column_config=columns,
        )
        # Another list begins at its top.
        shown_list = {"container": "corpus_list", "name": repr((chosen(table.TABLE), choice, part))}
        component("kept_scroll", "scroll_of_corpus_list", shown_list, height=1)
    st.caption(
        gettext(
            "Tick the box at the start of a row to see its sentence pair step by step. Your browser’s Back button "
            "returns to this list."
        )
    )
    rows = event.get("selection", {}).get("rows", [])
    if rows and rows[0] < len(shown):
        row = shown.slice(rows[0], 1).to_pylist()[0]
        table.write_address()
        session[_OPENED] = session.get(_OPENED, 0) + 1
        try:
            _open_row(job, row)
        except AttnvizError as error:
            _show_error(str(error))


def _in_the_language(rows: pd.DataFrame, measures: Collection[str]) -> Styler:
    """Return `rows` with the numbers of `measures` written as in the language of the page.

    Streamlit's own formats write a point in every language, or follow the language of the browser.
    """
    formats: dict[Any, Any] = {name: _format(rows[name]) for name in measures if name in rows}
    return rows.style.format(formats, na_rep="")


def _format(column: pd.Series[Any]) -> Callable[[float], str]:
    """Return a function that writes each number of a column with as many decimals, three digits for most of them."""
    values = column[np.isfinite(column.astype(float))].astype(float)
    sizes = values[values != 0].abs()
    places = 0 if (values == values.round()).all() else int(np.clip(2 - np.floor(np.log10(sizes.median())), 0, 4))
    return lambda value: decimal(float(value), places) if np.isfinite(value) else significant(float(value))


def _choose_part(count: int) -> int:
    """Draw the choice of one of `count` parts where there are several; return it, from 0."""
    stored = chosen(table.PART)
    current = min(max(int(stored) if stored.isascii() and stored.isdigit() else 1, 1), max(count, 1))
    if count < 2:
        return 0
    entered = int(st.number_input(gettext("Part of {count}", count=count), 1, count, current, width=140))
    choose(table.PART, str(entered))
    return entered - 1


def _downloads(job: CorpusJob, listed: table.SortedRows) -> None:
    """Offer the listed rows as CSV, and the whole table, with links and remarks, as Parquet."""

    def csv() -> bytes:
        buffer = io.BytesIO()
        rows = listed.part(0)
        pyarrow.csv.write_csv(rows if table.has_files(rows) else rows.drop_columns(["file"]), buffer)
        return buffer.getvalue()

    with st.container(horizontal=True, key="corpus_downloads"):
        st.download_button(gettext("The listed pairs, CSV"), csv, "corpus.csv", "text/csv", on_click="ignore")
        st.download_button(
            gettext("The whole table with word links, Parquet"),
            job.table.read_bytes,
            "corpus.parquet",
            "application/vnd.apache.parquet",
            on_click="ignore",
        )
