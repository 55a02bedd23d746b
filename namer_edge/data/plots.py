"""Statistics of a pack as charts."""

import numpy as np
from matplotlib.figure import Figure

from ..figures import panels
from .statistics import Statistics

BINS, CLASSES = 40, 30


def plots(statistics: Statistics) -> Figure:
    """A histogram of each series without its highest percent, and the most frequent classes."""
    series = {name: values for name, values in statistics.series().items() if len(values)}
    figure, [*histograms, bars] = panels(len(series) + 1, 9.0, 2.4)
    for axes, (name, values) in zip(histograms, series.items(), strict=True):
        low, high = min(values), round(float(np.quantile(values, 0.99))) + 1
        axes.hist(values, bins=min(BINS, high - low), range=(low, high))
        axes.set_title(f"{name} ({len(values)} formulas)")
    most = dict(list(statistics.classes.items())[:CLASSES])
    bars.bar(range(len(most)), list(most.values()))
    bars.set_xticks(range(len(most)), list(most), rotation=90, parse_math=False)
    bars.set_title(f"the {len(most)} most frequent classes")
    return figure
