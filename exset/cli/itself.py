"""The commands about exset itself: `formats`, `demo`, `doctor` and `completion`."""

import click

from exset import formats as registry
from exset.cli.commands import Command
from exset.cli.format_options import switch
from exset.cli.inputs import verbosity_options
from exset.cli.options import option
from exset.cli.paths import PATH
from exset.cli.reports import Report, json_option, json_rows
from exset.core.text import safe


@click.command(cls=Command)
@json_option(
    *("name", "title", "family", "kind", "suffixes", "options", "read_options", "dialects")
)
def formats() -> None:
    """List the file formats, with their suffixes and options.

    \b
      exset formats

    The list includes the formats of other installed packages.
    """
    rows, lines = json_rows(), [("FORMAT", "FILES", "SUFFIXES", "OPTIONS FOR WRITING")]
    for fmt in (*registry.FORMATS, *registry.load_plugins()):
        if rows is not None:
            dialect = fmt.option("dialect")
            row = {
                "name": fmt.name,
                "title": fmt.title,
                "family": fmt.family.name,
                "kind": "binary" if fmt.binary else "text",
                "suffixes": fmt.suffixes,
                "options": [option.name for option in fmt.options],
                "read_options": [option.name for option in fmt.read_options],
                "dialects": dialect.choices if dialect else (),
            }
            rows.write(row)
        else:
            options = " ".join(switch(option.name, "write") for option in fmt.options)
            lines.append((safe(fmt.name), safe(fmt.title), " ".join(fmt.suffixes), options))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines if rows is None else ():
        click.echo("  ".join(map(str.ljust, line, widths)).rstrip())


@click.command(cls=Command)
@click.argument("folder", default="exset-demo", type=PATH)
@json_option("name", "converted", "units", folder="folder")
@verbosity_options
def demo(folder: str, quiet: bool, **_: bool) -> None:
    """Write, check and convert the bundled samples.

    \b
      exset demo
      exset demo somewhere/else

    The folder is exset-demo by default. It must be new, or contain only files of the demo.
    """
    from exset.demo import describe, steps

    if (rows := json_rows()) is not None:
        for step in steps(folder):
            rows.write(vars(step))
        return
    for line in describe(folder):
        if not quiet:
            click.echo(safe(line))


@click.command(cls=Command)
@option(
    "--compile", "compiles", is_flag=True, help="Compile all grammars, layouts and kernels now."
)
@json_option(
    *("versions", "platform", "compiled", "why", "cache", "writable", "bytes", "stale"),
    *("grammars", "layouts", "kernels", "plugins", "plugin_error", "ready", "seconds"),
)
def doctor(compiles: bool) -> Report:
    """Report the installation: versions, compiled code, cache.

    \b
      exset doctor
      exset doctor --compile

    exset compiles a grammar or a layout (the declaration of a file format) when it first uses this
    format. It compiles kernels (fast loops) when the package is built, or in a background process.
    With --compile, it compiles all of them now, and reports the time.
    """
    from exset.doctor import compile_all, examine

    seconds = compile_all() if compiles else None
    state = examine()
    rows = state.rows()
    if seconds is not None:
        rows.append(("time", f"compiled in {seconds:.1f} seconds"))
    lines = [f"{label:<12} {safe(text)}" for label, text in rows]
    return Report({**state.to_dict(), "seconds": seconds}, lines=lines)


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that lets a shell complete commands, options and file names.

    \b
      eval "$(exset completion bash)"                               in ~/.bashrc
      exset completion fish > ~/.config/fish/completions/exset.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    complete = shell_class(ctx.find_root().command, {}, "exset", "_EXSET_COMPLETE")
    # click's bash class would start bash to ask for its version: use the base class's method.
    click.echo(ShellComplete.source(complete))
