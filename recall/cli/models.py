"""`recall model`: which models there are, and which one is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recall.cli import streams
from recall.cli.options import AsJson

if TYPE_CHECKING:
    from recall.models import Model

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Name the models that read for search by meaning; choose one.",
)

IN_USE = "*"


@app.command("list")
def list_models(
    as_json: AsJson = False,
) -> None:
    """Name the models: size, languages, where they are."""
    from recall.cli.settings import load_settings
    from recall.home import home_directory, models_directory
    from recall.models import Model, describe, known_models

    home = home_directory()
    in_use = load_settings(home).model
    cache = models_directory(home)
    models = list(known_models(cache))
    mine = describe(in_use, cache) or Model(in_use, "fastembed", "", None, False)
    if mine not in models:
        models.append(mine)
    if as_json:
        streams.print_json({"in_use": mine.name, "models": [_document(model, model == mine) for model in models]})
    else:
        streams.print_text(_text(models, mine))


@app.command("use")
def use_model(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="minilm, a fastembed name, or a folder with an ONNX model.")
    ],
) -> None:
    """Write NAME into config.toml; downloads nothing."""
    from recall.cli.settings import load_settings, write_model
    from recall.home import home_directory, models_directory
    from recall.models import accepted

    home = home_directory()
    before = load_settings(home).model
    model = accepted(name, models_directory(home))
    if model.name == before:
        streams.print_text(f"{model.name} is in use already")
        return
    path = write_model(home, model.name)
    fetched = "" if model.here else f", after a download of {_size(model)}"
    streams.print_text(
        f"{path}: model = {model.name}\n"
        f"next: recall embed, which computes its vectors{fetched}\n"
        f"Until then passages are found by their words only. The vectors of {before} stay until the new ones are\n"
        "complete: as long as they are there, going back costs nothing."
    )


def _document(model: Model, in_use: bool) -> dict[str, Any]:
    return {
        "name": model.name,
        "source": model.source,
        "in_use": in_use,
        "languages": model.languages,
        "megabytes": model.megabytes,
        "here": model.here,
    }


def _text(models: list[Model], mine: Model) -> str:
    rows = [("", "model", "size", "on this machine", "languages")]
    rows += [
        (IN_USE if model == mine else "", model.name, _size(model), _where(model), model.languages) for model in models
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, f"{IN_USE} in use; choose one with: recall model use NAME"])


def _where(model: Model) -> str:
    return "yes" if model.here else "no: recall embed fetches it"


def _size(model: Model) -> str:
    return f"{model.megabytes} MB" if model.megabytes is not None else ""
