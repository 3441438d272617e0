"""How the pages become a site: `sphinx-build -W docs site`."""

import exset

project = "exset"
author = "The exset developers"
copyright = "The exset developers, Apache-2.0"
version = release = exset.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinxcontrib.programoutput",
]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Docstrings are prose with `names` in it.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"

html_theme = "furo"
html_title = "exset"
# Pygments has no lexer of Lark grammars; what we call by its name has one.
highlight_language = "none"
