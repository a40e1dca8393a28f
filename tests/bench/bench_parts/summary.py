"""Medians and spread of what the rounds gave."""

import statistics


def spread(values):
    """(median, least, most); None of nothing."""
    return (statistics.median(values), min(values), max(values)) if values else None


def values(results, field="value"):
    return [result[field] for result in results if field in result]


def failure(results):
    """Why the last run that failed did so; None if none did."""
    found = [result["failure"] for result in results if "failure" in result]
    return found[-1] if found else None


def curve(results, key="points"):
    """{x: median} over all rounds. JSON has made the numbers texts, where results are an earlier run's."""
    found = {}
    for result in results:
        for x, y in result.get(key, {}).items():
            found.setdefault(int(x), []).append(y)
    return {x: statistics.median(ys) for x, ys in sorted(found.items())}


def ways(results):
    """{way: {bytes: median ns}} of the measurement of memory."""
    names = dict.fromkeys(name for result in results for name in result.get("ways", {}))
    return {name: curve([{"points": result["ways"].get(name, {})} for result in results if "ways" in result])
            for name in names}


def number(value):
    """Three digits that mean something, without an exponent."""
    if value == 0:
        return "0"
    magnitude = abs(value)
    for limit, digits in ((0.01, 4), (0.1, 3), (10, 2), (100, 1)):
        if magnitude < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def in_words(found, unit=""):
    """Median with least and most behind it, where they differ."""
    median, least, most = (number(value) for value in found)
    spread_words = f" ({least} – {most})" if found[1] != found[2] else ""
    return f"{median}{' ' + unit if unit else ''}{spread_words}"


def size_name(size):
    for factor, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= factor:
            return f"{size // factor} {name}"
    return f"{size} B"
