"""Sphinx's settings for the site: ``make docs`` builds it into site/ with every warning an error."""

from hf_env import __version__

project = "hf_env"
version = release = __version__
language = "en"
# Quotes and dashes are parts of code and of options here.
smartquotes = False
html_title = "hf_env: Hand and Foot"
html_theme = "furo"
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_last_updated_fmt = ""

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
# Fences without a language are refused by tests/docs, so this is only for what docstrings hold.
highlight_language = "text"

myst_heading_anchors = 3

napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autoclass_content = "both"
python_maximum_signature_line_length = 100

# A name of ours that leads nowhere is an error; other projects' names are not linked, since that needs the network.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!hf_env|agents|training).*"),
    # Types inside of the packages that the reference does not tell of.
    ("py:class", r"agents\.neural\.ranks\..*|training\.config\._\w+"),
]


def _readable_signature(app, what, name, thing, options, signature, returned):
    # Sphinx cannot read how Python shows a dataclass's factory, and would break the line at every comma.
    return signature and signature.replace("<factory>", "..."), returned


def setup(app) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-signature", _readable_signature)
