# SPDX-License-Identifier: GPL-2.0-or-later
"""The colours of still pictures, by role."""

BAND = "#d6e2e6"
GROUPS = ("#4f7cac", "#7fb069", "#d1495b", "#edae49", "#8d6b94", "#6b705c", "#e07a5f", "#b23a48")
PUBLISHED, INK, GRID = "#98670a", "#22252a", "#e3e1da"
COLOURS = {
    "large": "#b4472e",
    "small": "#1f6f8b",
    "accent": "#6a4c93",
    "large2": "#d9608f",
    "small2": "#3d9a50",
    "spare": "#5b6470",
    "step0": "#1f6f8b",
    "step1": "#98670a",
}
