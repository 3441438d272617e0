"""How the pages become a site: `sphinx-build -W docs site`."""

import os
import sys

import exset

sys.path.insert(0, os.path.dirname(__file__))

project = "exset"
author = "The exset developers"
copyright = "The exset developers, Apache-2.0"
version = release = exset.__version__

extensions = [
    "declarations",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinxcontrib.programoutput",
]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Docstrings are prose with `names` in it.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_preserve_defaults = True
# Each reference must have its target, except types, which may be private or of other packages.
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]
autodoc_typehints_description_target = "documented_params"

# An option such as --lossy keeps its two hyphens, and a command its straight quotation marks.
smartquotes = False

html_theme = "furo"
# The dark style of Furo underlines modules, so that they look like links.
pygments_dark_style = "github-dark"
html_title = "exset"
html_static_path = ["_static"]
html_css_files = ["exset.css"]
# A block without a language is no code; Pygments need not guess.
highlight_language = "none"
