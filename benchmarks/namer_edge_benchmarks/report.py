"""Results as Markdown, for people."""

from collections.abc import Iterable, Mapping, Sequence

from .configuration import STAGES, Measured, Row
from .machine import Machine

READ_AS = """\
Milliseconds a formula: mean / median / 95th percentile, of wall clock. *latex* is all that comes
after the path, the vote of several passes included. FPS counts everything from the input to the
LaTeX. Memory is the highest resident memory of the process, Python included. GFLOPs are
2 x multiply-adds / 10^9 of one pass at the size given, encoder and decoder (VAT + PGD) apart."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; None is a dash."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    text = f"{value:,.2f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def page(machine: Machine, rows: Sequence[Row]) -> str:
    """All figures of a run, the rows without any first in what they lack."""
    parts = [machine.text(), READ_AS]
    found = [(row, row.measured) for row in rows if row.measured is not None]
    if found:
        summary = [
            "model", "engine", "device", "threads", "batch", "FPS", "ms", "exact, %", "<= 1, %",
            "<= 2, %", "formulas", "failed",
        ]  # fmt: skip
        parts.append(table(summary, [_summary(row, m) for row, m in found]))
        stages = [stage for stage in STAGES if any(stage in m.stages for _, m in found)]
        times = [[*_name(row, m), *(_spread(m, stage) for stage in stages)] for row, m in found]
        parts.append(table(["model", "threads, batch", *stages], times))
        costs = [
            "model", "threads, batch", "load, ms", "first, ms", "processor, ms", "memory, MB",
            "GPU, MB", "J", "file, MB", "parameters, M", "GFLOPs encoder", "GFLOPs decoder", "size",
        ]  # fmt: skip
        parts.append(table(costs, [_costs(row, m) for row, m in found]))
        protocols = {m.accuracy.protocol for _, m in found if m.accuracy}
        parts += [f"Accuracy: {protocol}" for protocol in sorted(protocols)]
    parts += [f"Not measured: {row.trial}: {row.error}" for row in rows if row.error]
    parts += [_failures(row, m.failed) for row, m in found if m.failed]
    return "\n\n".join(parts)


def _name(row: Row, m: Measured) -> list[object]:
    return [f"{row.called}, {m.engine}", f"{row.trial.threads}, {row.trial.batch}"]


def _summary(row: Row, m: Measured) -> list[object]:
    a = m.accuracy
    rates = [a.exprate, a.exprate_le1, a.exprate_le2] if a else [None] * 3
    return [
        row.called, m.engine, m.device, row.trial.threads, row.trial.batch,
        m.fps, m.whole.mean, *rates, m.formulas, len(m.failed),
    ]  # fmt: skip


def _spread(m: Measured, stage: str) -> str | None:
    spread = m.stages.get(stage)
    return f"{spread.mean:.2f} / {spread.median:.2f} / {spread.p95:.2f}" if spread else None


def _costs(row: Row, m: Measured) -> list[object]:
    parameters, flops, size = m.parameters, m.flops, m.size
    return [
        *_name(row, m), m.load, m.first, m.processor_time, m.peak_memory, m.gpu_memory, m.joules,
        m.file_bytes / 1e6,
        sum(parameters.values()) / 1e6 if parameters else None,
        flops["encoder"] / 1e9 if flops else None,
        (flops["vat"] + flops["pgd"]) / 1e9 if flops else None,
        "{} x {}, {} nodes".format(*size) if size else None,
    ]  # fmt: skip


def _failures(row: Row, failed: Mapping[str, str]) -> str:
    lines = [f"- {name}: {' '.join(why.split())}" for name, why in failed.items()]
    return "\n".join([f"{len(failed)} not read by {row.trial}:\n", *lines])
