"""`exset completion`: what a shell is told to complete words of the command line."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Write what a shell needs to complete verbs, options and files.

    \b
      eval "$(exset completion bash)"                               in ~/.bashrc
      exset completion fish > ~/.config/fish/completions/exset.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    known = get_completion_class(shell)
    assert known is not None
    made = known(ctx.find_root().command, {}, "exset", "_EXSET_COMPLETE")
    # Not that of bash, which starts one to ask for its version.
    click.echo(ShellComplete.source(made))
