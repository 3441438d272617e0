"""Let Numba compile to modules of LLVM, which do not run in this process.

By default Numba optimises each function alone, links it with all functions that it calls, and makes
machine code from the result. Here Numba only writes the LLVM code of each function:
`exset.compiler.objects` links and optimises the functions of a group together.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from numba.core import typed_passes, types, untyped_passes
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys

_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.AnnotateTypes,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


class Library(AOTCodeLibrary):
    """The LLVM code of one function, without the functions that it calls."""

    def add_llvm_module(self, module: Any) -> None:
        """Add the code of an LLVM module to this library without optimising it."""
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Mark the library as complete. Unlike Numba, do not link it with other libraries."""
        self._finalized = True

    @property
    def module(self) -> Any:
        """The LLVM module that holds the code."""
        return self._final_module

    def needed(self) -> Iterator["Library"]:
        """Yield this library, then every library that it uses directly or indirectly, each once."""
        found: dict[Library, None] = {self: None}
        left = [self]
        while left:
            new = [each for each in left.pop()._linking_libraries if each not in found]
            found |= dict.fromkeys(new)
            left += new
        yield from found


class _Codegen(AOTCPUCodegen):
    _library_class = Library


class _Context(CPUContext):
    def init(self) -> None:
        super().init()
        self._internal_codegen: Any = _Codegen("exset")  # type: ignore[no-untyped-call]

    @cache  # noqa: B019 - there is one context
    def refresh(self) -> None:
        """Load Numba's implementations of built-in functions only once in this process.

        Numba itself loads them again before each kernel.
        """
        super().refresh()  # type: ignore[no-untyped-call]

    def get_executable(self, library: object, descriptor: object, environment: object) -> object:
        """Return any new function in place of the machine code, which is never called here."""
        return [].append

    def post_lowering(self, module: object, library: object) -> None:
        """Add no memory manager to the code, because kernels create no arrays."""


class Compiler(CompilerBase):
    """Numba's compiler with only the passes that kernels need, which saves time."""

    def define_pipelines(self) -> list[PassManager]:
        """Return one pipeline with the passes of `_PASSES`."""
        passes: Any = PassManager("exset")  # type: ignore[no-untyped-call]
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class Dispatcher(CPUDispatcher):
    """A kernel that Numba compiles once for each choice of argument types.

    Numba itself might compile another version for a constant argument.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Prepare a call; treat a constant argument like any other number of its type."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)


@cache
def use() -> None:
    """Change Numba in this process: from now on it makes no machine code and manages no memory."""
    rtsys.initialize = lambda _: None
    context = _Context(cpu_target.typing_context, "cpu")  # type: ignore[no-untyped-call]
    vars(cpu_target)["_toplevel_target_context"] = context
