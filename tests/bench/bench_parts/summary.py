"""Medians and spread of the rounds' figures."""

import statistics


def spread(values):
    """(median, least, most); None without values."""
    return (statistics.median(values), min(values), max(values)) if values else None


def values(results, field="value"):
    return [result[field] for result in results if field in result]


def failure(results):
    """The reason of the last failed run; None if no run failed."""
    found = [result["failure"] for result in results if "failure" in result]
    return found[-1] if found else None


def curve(results, key="points"):
    """{x: median} over all rounds. In an earlier run's record, JSON has turned the keys into texts."""
    found = {}
    for result in results:
        for x, y in result.get(key, {}).items():
            found.setdefault(int(x), []).append(y)
    return {x: statistics.median(ys) for x, ys in sorted(found.items())}


def ways(results):
    """{way: {bytes: median ns}} of the measurement `memory speed`."""
    names = dict.fromkeys(name for result in results for name in result.get("ways", {}))
    return {name: curve([{"points": result["ways"].get(name, {})} for result in results if "ways" in result])
            for name in names}


def number(value):
    """The number with three significant digits, without an exponent."""
    if value == 0:
        return "0"
    magnitude = abs(value)
    for limit, digits in ((0.01, 4), (0.1, 3), (10, 2), (100, 1)):
        if magnitude < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def in_words(found, unit=""):
    """The median, then least and most if they differ."""
    median, least, most = (number(value) for value in found)
    spread_words = f" ({least} – {most})" if found[1] != found[2] else ""
    return f"{median}{' ' + unit if unit else ''}{spread_words}"


def size_name(size):
    for factor, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= factor:
            return f"{size // factor} {name}"
    return f"{size} B"
